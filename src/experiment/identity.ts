/**
 * When two interventions are the same: equal configuration after the merge and equal tree after the diff. The reference
 * has a hash of the same kind, so an intervention that changes nothing is one whose hash is the reference's.
 */
import type { Reference } from './environment.ts'
import { contentHash, type Json } from './json.ts'

/** What is left after the intervention was applied; or, for an import of which only words are known, those words. */
export type AppliedIntervention =
  | { readonly configuration: Json; readonly tree: string | null }
  | { readonly sentence: string; readonly origin: string | null }

/**
 * 64 hexadecimal digits. Words count without regard to case, white space and closing punctuation, and with their
 * origin.
 */
export function interventionHash(applied: AppliedIntervention): string {
  if ('sentence' in applied) {
    return contentHash({ sentence: normalisedSentence(applied.sentence), origin: applied.origin })
  }
  return contentHash({ configuration: applied.configuration, tree: applied.tree })
}

/** The hash of changing nothing. A reference of which only the label is known is told apart by the label. */
export function referenceHash(reference: Reference): string {
  const { configuration, tree, label } = reference
  if (configuration === null && tree === null && label !== undefined) return contentHash({ label })
  return interventionHash({ configuration, tree })
}

function normalisedSentence(sentence: string): string {
  return sentence
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[\s.!?;,]+$/u, '')
}
