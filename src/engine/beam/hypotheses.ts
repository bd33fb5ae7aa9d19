/**
 * What one beam search keeps: beginnings that go on, and sequences that have ended.
 */
import type { Beam, BeamRequest } from '../sampling.ts'

/** A beginning. */
export interface Hypothesis {
  readonly tokens: readonly number[]
  readonly logProbability: number
  /** Of the constraint; 0 without one. */
  readonly state: number
  /** Which of the beginnings before it it continues. */
  readonly parent: number
  /** Null while it goes on. */
  readonly stopReason: Beam['stopReason'] | null
}

/** Each best first, and at most as many as there are beams. */
export interface Hypotheses {
  readonly open: readonly Hypothesis[]
  readonly ended: readonly Hypothesis[]
}

export const beginning: Hypotheses = {
  open: [{ tokens: [], logProbability: 0, state: 0, parent: 0, stopReason: null }],
  ended: [],
}

/**
 * One token more; `logProbabilities`: of every token, by open hypothesis. What has ended has places of its own, so that
 * beginnings that look better for the moment cannot drive it out. Since probabilities only fall, a beginning is given
 * up once all those places are taken by something better.
 */
export function advance(
  { open, ended }: Hypotheses,
  { beams, maximumTokens, stop, constraint }: BeamRequest,
  logProbabilities: readonly Float32Array[],
): Hypotheses {
  const stops = new Set(stop)
  const nextOpen = new Best(beams)
  const nextEnded = new Best(beams, ended)
  for (const [parent, { tokens, logProbability: before, state }] of open.entries()) {
    const row = logProbabilities[parent]!
    const stopReasonOf = (token: number, next: number) => {
      if (stops.has(token) || (constraint && constraint.next[next]!.size === 0)) return 'stop'
      return tokens.length + 1 === maximumTokens ? 'length' : null
    }
    const consider = (token: number, next: number) => {
      const logProbability = before + row[token]!
      if (Number.isNaN(logProbability))
        throw new Error(`beamSearch: the log-probability of token ${token} is not a number; have the weights diverged?`)
      const stopReason = stopReasonOf(token, next)
      const places = stopReason ? nextEnded : nextOpen
      if (places.admits(logProbability))
        places.add({ tokens: [...tokens, token], logProbability, state: next, parent, stopReason })
    }
    if (constraint) for (const [token, next] of constraint.next[state]!) consider(token, next)
    else for (let token = 0; token < row.length; token++) consider(token, 0)
  }
  return { open: nextOpen.kept.filter(({ logProbability }) => nextEnded.admits(logProbability)), ended: nextEnded.kept }
}

/** The best few of what is added, best first; of equals those whose tokens come first. */
class Best {
  readonly kept: Hypothesis[]
  readonly #places: number

  constructor(places: number, kept: readonly Hypothesis[] = []) {
    this.#places = places
    this.kept = [...kept]
  }

  /** Whether there may be a place for it. What is impossible has none. */
  admits(logProbability: number): boolean {
    if (logProbability === Number.NEGATIVE_INFINITY) return false
    return this.kept.length < this.#places || logProbability >= this.kept.at(-1)!.logProbability
  }

  add(hypothesis: Hypothesis): void {
    const behind = this.kept.findIndex(other => compare(hypothesis, other) < 0)
    if (behind >= 0) this.kept.splice(behind, 0, hypothesis)
    else this.kept.push(hypothesis)
    this.kept.length = Math.min(this.kept.length, this.#places)
  }
}

function compare(a: Hypothesis, b: Hypothesis): number {
  if (a.logProbability !== b.logProbability) return b.logProbability - a.logProbability
  const place = a.tokens.findIndex((token, index) => token !== b.tokens[index])
  return place < 0 ? a.tokens.length - b.tokens.length : a.tokens[place]! - (b.tokens[place] ?? -1)
}
