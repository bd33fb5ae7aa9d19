import { defineConfig } from 'vitest/config'

// Real trackers and a real language model: not part of `npm test`, since they have to be installed first.
export default defineConfig({
  test: {
    include: ['peers/**/*.test.ts'],
    pool: 'forks',
    // One installation at a time, and peers that would slow each other down.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
