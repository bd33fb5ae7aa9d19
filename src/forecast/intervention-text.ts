/**
 * An intervention as the text that word counts are taken from: the sentence, the tags, the changed options and the
 * changed lines of the diff. Names of files and unchanged lines are left out: they say where we are, not what is tried.
 */
import type { ChangedOption, Intervention } from '../experiment/intervention.ts'
import { canonicalJson } from '../experiment/json.ts'

/** Characters read of a diff and kept of its changed lines: a generated one may have megabytes, and its beginning tells. */
const longestDiff = 20_000
const longestChange = 3_000

/** What the intervention says in words: its sentence and its diff. */
export function proposalText({ sentence, diff }: Intervention): string {
  if (diff === null) return sentence
  const lines = diff
    .slice(0, longestDiff)
    .split('\n')
    .filter(line => /^[+-](?![+-]{2})/.test(line))
  return `${sentence}\n${lines.join('\n').slice(0, longestChange)}`
}

/** The same with tags and options. */
export function interventionText(intervention: Intervention, changes: readonly ChangedOption[]): string {
  return [
    proposalText(intervention),
    intervention.tags.join(' '),
    ...changes.map(
      ({ option, from, to }) =>
        `${option.slice(option.lastIndexOf(':') + 1)} ${from === undefined ? '' : canonicalJson(from)} ${to === undefined ? '' : canonicalJson(to)}`,
    ),
  ].join('\n')
}
