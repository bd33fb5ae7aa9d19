/** What bench/engine.ts prints: rates, ratios with their spread over turns, memory. */
import { median } from '../../src/statistics/summary.ts'
import type { Block } from './contender.ts'

export interface Measured {
  readonly contender: string
  readonly version: string
  /** By the median step of all turns, and by the fastest. */
  readonly tokensPerSecond: number
  readonly fastest: number
  readonly peakMebibytes: number
  /** Of it, before a model was made. */
  readonly idleMebibytes: number
  /** How many times faster the engine is, by the median step of each turn; absent for the engine itself. */
  readonly ratio?: Spread
  /** The same by processor time, which says more on a machine that others use too. */
  readonly processorRatio?: Spread
}

export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export interface Result {
  readonly part: 'training' | 'sampling'
  readonly size: string
  readonly parameters: number
  readonly threads: number
  readonly rows: number
  /** Of the engine, of what large products of matrices reach in the same runtime with as many threads. */
  readonly shareOfPeak: number
  readonly measured: readonly Measured[]
}

export function measuredFrom(
  contender: string,
  ready: { readonly version: string; readonly idleMebibytes: number },
  blocks: readonly Block[],
  tokensPerStep: number,
  engine: readonly Block[],
): Measured {
  const seconds = blocks.flatMap(block => block.seconds)
  const measured = {
    contender,
    version: ready.version,
    tokensPerSecond: tokensPerStep / median(seconds),
    fastest: tokensPerStep / Math.min(...seconds),
    peakMebibytes: Math.max(...blocks.map(block => block.peakMebibytes)),
    idleMebibytes: ready.idleMebibytes,
  }
  if (blocks === engine) return measured
  return {
    ...measured,
    ratio: spread(blocks.map((block, turn) => median(block.seconds) / median(engine[turn]!.seconds))),
    processorRatio: spread(
      blocks.map((block, turn) => median(block.processorSeconds) / median(engine[turn]!.processorSeconds)),
    ),
  }
}

const spread = (values: readonly number[]): Spread => ({
  median: median(values),
  lowest: Math.min(...values),
  highest: Math.max(...values),
})

/** One line a comparison, the engine first. */
export function resultTable(results: readonly Result[]): string {
  const peers = [...new Set(results.flatMap(({ measured }) => measured.slice(1).map(({ contender }) => contender)))]
  const header = [
    ...['parameters', 'threads', 'batch', 'engine tokens/s', 'share of peak', 'MiB'],
    ...peers.flatMap(peer => [`${peer} tokens/s`, 'ratio (lowest–highest)', 'MiB']),
  ]
  const lines = results.map(({ size, threads, rows, shareOfPeak, measured }) => {
    const [engine] = measured
    const cells = peers.flatMap(peer => {
      const found = measured.find(({ contender }) => contender === peer)
      if (!found?.ratio) return ['–', '–', '–']
      const { median: middle, lowest, highest } = found.ratio
      const ratio = `${middle.toFixed(2)} (${lowest.toFixed(2)}–${highest.toFixed(2)})`
      return [rate(found.tokensPerSecond), ratio, memory(found)]
    })
    const own = [rate(engine!.tokensPerSecond), `${(100 * shareOfPeak).toFixed(0)} %`, memory(engine!)]
    return [size, threads, rows, ...own, ...cells]
  })
  return [header, header.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

const rate = (value: number) => Math.round(value).toLocaleString('en')
const memory = ({ peakMebibytes, idleMebibytes }: Measured) =>
  `${Math.round(peakMebibytes)} (${Math.round(idleMebibytes)} idle)`
