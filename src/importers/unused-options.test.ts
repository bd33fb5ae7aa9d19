import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'

const fixture = (name: string) => sourceOf(join(import.meta.dirname, 'fixtures', name), '/')

test.each([
  [
    'aide-journal.json',
    { revisions: 'main' },
    '--revisions names commits of a git repository, and aide-journal.json is read',
  ],
  [
    'aide-journal.json',
    { columns: { status: 'state' } },
    '--column says what stands in a column of a table, and aide-journal.json is none: leave',
  ],
  ['optuna-journal.jsonl', { columns: { metric: 'loss' } }, 'the metric is chosen with --metric loss'],
])('%s with %j is refused', async (name, options, sentence) => {
  await expect(readSource(fixture(name), options)).rejects.toThrow(sentence)
})
