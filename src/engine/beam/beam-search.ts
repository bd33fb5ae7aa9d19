/**
 * Beam search: the most probable continuations that are found by keeping a few beginnings at every length. Nothing is
 * divided by the length or by what a constraint leaves, so the log-probabilities are those of the model.
 */
import type { Beam, BeamRequest, CallOptions } from '../sampling.ts'
import type { FrontierStart } from './frontier.ts'
import { advance, beginning, type Hypotheses, type Hypothesis } from './hypotheses.ts'

export interface BeamSearchOptions extends CallOptions {
  /** Rows of the model that are computed at once, at most where a request has fewer beams. Default 256. */
  readonly rowsAtOnce?: number
}

/**
 * By request, best first; ties in the order of their tokens. A request gets fewer beams than it asks for where there
 * are no more sequences. With as many beams as there are sequences, it finds all of them.
 */
export async function beamSearch(
  start: FrontierStart,
  requests: readonly BeamRequest[],
  { rowsAtOnce = 256, signal }: BeamSearchOptions = {},
): Promise<Beam[][]> {
  const results: Beam[][] = []
  for (let first = 0; first < requests.length; ) {
    let end = first
    for (let rows = 0; end < requests.length; end++) {
      rows += requests[end]!.beams
      if (end > first && rows > rowsAtOnce) break
    }
    results.push(...(await searchTogether(start, requests.slice(first, end), signal)))
    first = end
  }
  return results
}

async function searchTogether(
  start: FrontierStart,
  requests: readonly BeamRequest[],
  signal: AbortSignal | undefined,
): Promise<Beam[][]> {
  signal?.throwIfAborted()
  let frontier = await start(requests)
  let searches: readonly Hypotheses[] = requests.map(() => beginning)
  for (;;) {
    const parents: number[] = []
    const tokens: number[] = []
    let row = 0
    searches = searches.map((search, index) => {
      const firstRow = row
      row += search.open.length
      const next = advance(search, requests[index]!, frontier.logProbabilities.slice(firstRow, row))
      for (const hypothesis of next.open) {
        parents.push(firstRow + hypothesis.parent)
        tokens.push(hypothesis.tokens.at(-1)!)
      }
      return next
    })
    if (parents.length === 0) return searches.map(({ ended }) => ended.map(beamOf))
    signal?.throwIfAborted()
    frontier = await frontier.extend(parents, tokens)
  }
}

function beamOf({ tokens, logProbability, stopReason }: Hypothesis): Beam {
  return { tokens: Int32Array.from(tokens), logProbability, stopReason: stopReason! }
}
