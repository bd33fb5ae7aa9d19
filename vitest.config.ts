import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Tests run real processes, databases and training runs, so a file may take tens of seconds on a small machine.
export default defineConfig({
  test: {
    include: ['{src,environments,examples,reproductions,bench}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/.almanac/**'],
    pool: 'forks',
    // Many tests wait for processes: on two cores two files at once take half the time of one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
