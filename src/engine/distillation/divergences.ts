/**
 * How far a student's distribution over the vocabulary is from a teacher's at one position, and the derivative: forward and reverse KL, and
 * the generalised Jensen-Shannon divergence of GKD (Agarwal et al., 2024), each with a clip on every entry before the sum over the vocabulary.
 */
import { described, type FieldsOf, requireFields, requireRecord } from '../required-types.ts'

export type DivergenceKind =
  /** KL(teacher ‖ student): Σ p_T (log p_T - log p_S). */
  | { readonly kind: 'forward-kl' }
  /** KL(student ‖ teacher): Σ p_S (log p_S - log p_T). */
  | { readonly kind: 'reverse-kl' }
  /**
   * beta KL(T ‖ M) + (1 - beta) KL(S ‖ M) with M = (1 - beta) S + beta T. Beta 0 means the forward, 1 the reverse KL, and there it is
   * discontinuous: near the ends it goes to 0, and only divided by beta (or 1 - beta) to the KL.
   */
  | { readonly kind: 'jensen-shannon'; readonly beta: number }

export type Divergence = DivergenceKind & {
  /** The most that one token of the vocabulary may add; what is cut has no gradient. Default: no limit. */
  readonly clip?: number
}

type Row = Float32Array | Float64Array

/** Counts as 0 in a mixture: the ratio of the other probability to a smaller one may be too large for a number. */
const negligible = 1e-300

export interface DivergenceAt {
  /** With the clip. It can be negative, for only entries above are cut. */
  readonly loss: number
  /** Without. */
  readonly divergence: number
}

const fields: { readonly [Kind in Divergence['kind']]: FieldsOf<Extract<Divergence, { readonly kind: Kind }>> } = {
  'forward-kl': { kind: true, clip: true },
  'reverse-kl': { kind: true, clip: true },
  'jensen-shannon': { kind: true, beta: true, clip: true },
}

export function checkDivergence(divergence: Divergence): void {
  requireRecord('divergence', divergence)
  if (!Object.hasOwn(fields, divergence.kind))
    throw new Error(
      `divergence: kind is ${described(divergence.kind)}: expected forward-kl, reverse-kl or jensen-shannon`,
    )
  requireFields('divergence', divergence, fields[divergence.kind])
  if (divergence.kind === 'jensen-shannon' && !(divergence.beta >= 0 && divergence.beta <= 1))
    throw new Error(`divergence: beta is ${described(divergence.beta)}: expected a number from 0 to 1`)
  const { clip = 1 } = divergence
  if (!(clip > 0))
    throw new Error(`divergence: clip is ${described(clip)}: expected a positive number, or absent for none`)
}

/**
 * Of rows of log-probabilities over the vocabulary. Writes into `derivative` that of the loss by the student's log-probabilities, up to a
 * multiple of the student's probabilities: one changes no gradient by logits, for probabilities sum to one. The multiple is chosen so
 * that the derivative is exactly 0 where both rows are equal and nothing is clipped.
 */
export function divergenceAt(divergence: Divergence, student: Row, teacher: Row, derivative: Row): DivergenceAt {
  const { clip = Number.POSITIVE_INFINITY } = divergence
  const kind = effectiveKind(divergence)
  let loss = 0
  let whole = 0
  for (let token = 0; token < student.length; token++) {
    const [s, t] = [student[token]!, teacher[token]!]
    const [pS, pT] = [Math.exp(s), Math.exp(t)]
    let entry = 0
    let slope = 0
    let clippedSlope = 0
    // A probability of 0 adds nothing, whatever its logarithm is multiplied with.
    if (kind.kind === 'forward-kl') {
      entry = pT === 0 ? 0 : pT * (t - s)
      slope = pS - pT
      clippedSlope = pS
    } else if (kind.kind === 'reverse-kl') {
      entry = pS === 0 ? 0 : pS * (s - t)
      slope = entry
      clippedSlope = -pS
    } else {
      const { beta } = kind
      // log S - log M and log T - log M, exactly 0 where the rows are equal.
      const fromS = pS < negligible ? 0 : -Math.log1p(beta * Math.expm1(t - s))
      const fromT = pT < negligible ? 0 : -Math.log1p((1 - beta) * Math.expm1(s - t))
      slope = (1 - beta) * pS * fromS
      entry = beta * pT * fromT + slope
    }
    whole += entry
    loss += Math.min(entry, clip)
    derivative[token] = entry > clip ? clippedSlope : slope
  }
  return { loss, divergence: whole }
}

function effectiveKind(divergence: Divergence): DivergenceKind {
  if (divergence.kind !== 'jensen-shannon') return divergence
  if (divergence.beta === 0) return { kind: 'forward-kl' }
  return divergence.beta === 1 ? { kind: 'reverse-kl' } : divergence
}
