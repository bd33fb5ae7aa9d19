/**
 * Where the package takes a text apart before its tokens otherwise than the reference implementation: mended where it can be, refused
 * where not, for other ids than a model was trained on are worse than none.
 */

/** A step as tokenizer.json has it. */
export interface PreTokenizerStep {
  readonly type?: unknown
  readonly [field: string]: unknown
}

/** The same step, in a form that the package carries out right. Throws a sentence where there is none. */
export function mendedPreTokenizer(step: PreTokenizerStep | null): PreTokenizerStep | null {
  switch (step?.type) {
    case 'Sequence':
      if (!Array.isArray(step['pretokenizers'])) throw new Error('its pre-tokenizer is a sequence of nothing')
      return { ...step, pretokenizers: step['pretokenizers'].map(mendedPreTokenizer) }
    // The package's own knows the letters of ASCII only; its patterns know all.
    case 'Whitespace':
      return { type: 'Split', pattern: { Regex: '\\w+|[^\\w\\s]+' }, behavior: 'Removed', invert: true }
    case 'Split':
    case 'Punctuation': {
      const behavior = step['behavior'] ?? 'Isolated'
      // With `invert` the package keeps what matches and drops the rest, whatever the behaviour.
      const followed = step['invert'] ? behavior === 'Removed' : behavior === 'Removed' || behavior === 'Isolated'
      if (followed && !(step.type === 'Punctuation' && behavior !== 'Isolated')) return step
      throw new Error(
        `its pre-tokenizer ${step.type} with behavior ${behavior}${step['invert'] ? ', inverted,' : ''} is not supported`,
      )
    }
    default:
      return step
  }
}
