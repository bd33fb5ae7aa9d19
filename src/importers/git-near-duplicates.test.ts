/** That near-duplicates are found among changes as git histories bring them: real diffs, against references that move. */
import { expect, test } from 'vitest'
import { changedOptions } from '../experiment/diff-options.ts'
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { Candidate } from '../experiment/record.ts'
import { read, results, type ScratchCommit } from './scratch-commits.ts'

const begin = ['def model(x):', '    x = embed(x)', '    return head(x)', '', 'RATE = 0.1', 'WARMUP = 10', '']
const gated = [
  '    gate = sigmoid(project(x))',
  '    gate = dropout(gate)',
  '    x = x * gate',
  '    x = mix(x, gate)',
  '    x = x + residual(gate)',
  '    x = scale(x, gate.mean())',
]

/** A commit for each state of the program, each measured. */
function commitsOf(states: readonly (readonly string[])[], messages: readonly string[]): ScratchCommit[] {
  return states.map((lines, index) => ({
    message: messages[index] ?? `step ${index}`,
    files: { 'train.py': `${lines.join('\n')}\n`, ...results(1 + index / 7) },
  }))
}

async function groupsOf(commits: readonly ScratchCommit[]) {
  const { history, hashes } = await read(commits)
  const rows = history.rows.filter(({ role }) => role !== 'reference')
  const candidates = rows.map(({ intervention }): Candidate => {
    return { intervention, changes: changedOptions({ configuration: null }, intervention) }
  })
  const groups = nearDuplicateGroups(candidates)
  const group = (step: number) => groups[rows.findIndex(({ commit }) => commit === hashes[step])]
  return { group, rows: rows.length }
}

test('what is tried again is found, in another place and with another value; what is taken back is another thing', async () => {
  const within = (lines: readonly string[], at: number, more: readonly string[]) => [
    ...lines.slice(0, at),
    ...more,
    ...lines.slice(at),
  ]
  const withGate = within(begin, 2, gated)
  const normed = begin.map(line => line.replace('head(x)', 'head(norm(x))'))
  const helper = ['def helper(y):', '    return y', '', ...normed]
  const states = [
    begin,
    withGate, // 1: the gate
    begin, // taken back, and measured again: a repeat, no row
    normed, // 3
    helper, // 4
    // 5: the gate again, in code that has moved, spelled a little otherwise
    within(
      helper,
      5,
      gated.map((line, index) => (index === 5 ? '    x = scale(x, gate.max())' : line)),
    ),
    helper,
    helper.map(line => line.replace('RATE = 0.1', 'RATE = 0.2')), // 7: a rate
    helper.map(line => line.replace('RATE = 0.1', 'RATE = 0.4')), // 8: another
    helper.map(line => line.replace('RATE = 0.1', 'RATE = 0.4').replace('WARMUP = 10', 'WARMUP = 20')), // 9
    // 10: the norm goes, and all else stays
    helper.map(line =>
      line.replace('RATE = 0.1', 'RATE = 0.4').replace('WARMUP = 10', 'WARMUP = 20').replace('norm(x)', 'x'),
    ),
  ]
  const { group, rows } = await groupsOf(commitsOf(states, []))
  expect(rows).toBe(8)
  expect(group(5)).toBe(group(1))
  expect(group(8)).toBe(group(7))
  const apart = [1, 3, 4, 7, 9, 10].map(group)
  expect(new Set(apart).size).toBe(apart.length)
})
