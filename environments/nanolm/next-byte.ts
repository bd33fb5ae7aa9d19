/**
 * The autoregressive objective: each byte from those before it in its window.
 */
import type { CrossEntropyDatum } from '../../src/engine/datum.ts'
import type { Objective } from './objective.ts'

export const nextByte: Objective = {
  vocabulary: 256,
  attention: 'causal',
  excerpts: 64,
  trainingData(windows) {
    const bytes = windows.reduce((sum, window) => sum + window.length - 1, 0)
    return windows.map(window => datum(window, 1 / bytes))
  },
  async bitsPerByte(trainer, windows) {
    const data = windows.map(window => datum(window, 1))
    const { logProbabilities } = await trainer.forward(data, { kind: 'cross_entropy' })
    let nats = 0
    let bytes = 0
    for (const ofWindow of logProbabilities) {
      for (const logProbability of ofWindow) nats -= logProbability
      bytes += ofWindow.length
    }
    return nats / (Math.LN2 * bytes)
  },
}

function datum(window: Buffer, weight: number): CrossEntropyDatum {
  const targets = Int32Array.from(window.subarray(1))
  return {
    input: { tokens: Int32Array.from(window.subarray(0, -1)) },
    targets,
    weights: new Float32Array(targets.length).fill(weight),
  }
}
