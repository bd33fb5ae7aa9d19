/**
 * A small transformer trained on a few lines of text, sampled, scored and saved; then training goes on from the folder. Takes some
 * seconds.
 *
 * Run:  node examples/engine/train-and-sample.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import type { OptimStepOptions } from '../../src/engine/optimisers/optimiser.ts'
import { byteTokeniser } from '../../src/engine/tokenisers/byte-tokeniser.ts'
import type { Trainer } from '../../src/engine/training.ts'

const rhyme = `Solomon Grundy, born on a Monday, christened on Tuesday, married on Wednesday,
took ill on Thursday, grew worse on Friday, died on Saturday, buried on Sunday.
`
const tokeniser = byteTokeniser()
const text = tokeniser.encode(rhyme)

/** A datum is shifted: position i of its input predicts target i. Losses are sums, so weights of 1/n make a mean. */
function batch(rows: number, positions: number, step: number) {
  return Array.from({ length: rows }, (_, row) => {
    const start = (7 * row + 11 * step) % (text.length - positions)
    return {
      input: { tokens: text.subarray(start, start + positions) },
      targets: text.subarray(start + 1, start + positions + 1),
      weights: new Float32Array(positions).fill(1 / (rows * positions)),
    }
  })
}

const optimStep: OptimStepOptions = {
  groups: [
    { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 0.02 },
    { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.005, weightDecay: 0.1 },
  ],
  clipNorm: 1,
}

/** Returns the loss of each step, in nats a token. */
async function train(trainer: Trainer, steps: number): Promise<number[]> {
  const losses: number[] = []
  for (let count = 0; count < steps; count++) {
    const data = batch(8, 32, trainer.version)
    losses.push((await trainer.forwardBackward(data, { kind: 'cross_entropy' })).lossSum)
    await trainer.optimStep(optimStep)
  }
  return losses
}

export async function trainAndSample(folder: string) {
  const engine = createEmbeddedEngine()
  const model = decoder({
    vocabulary: tokeniser.vocabulary,
    contextLength: 64,
    depth: 2,
    width: 32,
    heads: 2,
    tiedEmbeddings: true,
  })
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const losses = await train(trainer, 60)

  // A sampler keeps the weights as they are now, whatever the trainer does next.
  const sampler = await trainer.snapshot()
  const prompt = { tokens: tokeniser.encode('born on a ') }
  const [samples] = await sampler.sample([{ prompt, samples: 3, maximumTokens: 30, temperature: 0.7, seed: 1 }])
  const said = samples!.map(sample => tokeniser.decode(sample.tokens))

  // Going on from the folder gives the same numbers as never having stopped.
  await trainer.save(folder)
  const wentOn = await train(trainer, 5)
  const resumed = await train(await engine.loadTrainer(folder), 5)
  await engine.dispose()
  return { losses, said, wentOn, resumed }
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-engine-'))
  const { losses, said } = await trainAndSample(join(folder, 'checkpoint'))
  console.log(`loss ${losses[0]!.toFixed(2)} → ${losses.at(-1)!.toFixed(2)} nats a byte`)
  for (const sample of said) console.log(JSON.stringify(`born on a ${sample}`))
  rmSync(folder, { recursive: true })
}
