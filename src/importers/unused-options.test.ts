import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSource } from './read-source.ts'
import { scratchCommits } from './scratch-commits.ts'
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

test('of a repository only the metric can be told, and no reference', async () => {
  const { root } = scratchCommits([{ message: 'first', files: { 'train.py': 'x = 1' } }])
  const reading = (options: object) => readSource(sourceOf(root, '/'), options, 'git')
  await expect(reading({ columns: { status: 'state' } })).rejects.toThrow(
    'only the metric can be named, and not the status',
  )
  await expect(reading({ reference: 'abc' })).rejects.toThrow(
    '--reference names a run of a tracker or a sweep, and trials',
  )
})
