/**
 * An intervention as the text that word counts are taken from: the sentence, the tags, the changed options and the
 * changed lines of the diff. Names of files and unchanged lines are left out: they say where we are, not what is tried.
 */
import type { ChangedOption, Intervention } from '../experiment/intervention.ts'
import { canonicalJson } from '../experiment/json.ts'
import type { Candidate } from '../experiment/record.ts'
import { wordNumbers } from '../text/word-numbers.ts'

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

/** A history is asked for many times, by every forecaster; its words are read once, and kept as long as the interventions are. */
const proposals = new WeakMap<Intervention, Int32Array>()
const interventions = new WeakMap<
  Intervention,
  { readonly changes: readonly ChangedOption[]; readonly words: Int32Array }
>()

/** The words of `proposalText`, by number. */
export function proposalWords(intervention: Intervention): Int32Array {
  const known = proposals.get(intervention)
  if (known !== undefined) return known
  const words = wordNumbers(proposalText(intervention))
  proposals.set(intervention, words)
  return words
}

/** The words of `interventionText`, by number. */
export function interventionWords({ intervention, changes }: Candidate): Int32Array {
  const known = interventions.get(intervention)
  // Against another reference the same intervention changes other things.
  if (known?.changes === changes) return known.words
  const words = wordNumbers(interventionText(intervention, changes))
  interventions.set(intervention, { changes, words })
  return words
}
