/**
 * A published language model learns a text with low-rank adapters, and is written back as a folder that others can load. The folder is one
 * of a Llama- or Qwen3-style model that is on your disk: config.json, safetensors, tokenizer.json.
 *
 * Run:  node examples/engine/adapters.ts MODEL_FOLDER TEXT_FILE NEW_FOLDER
 */
import { existsSync, readFileSync } from 'node:fs'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { readPretrained } from '../../src/engine/pretrained/read-pretrained.ts'
import { writePretrained } from '../../src/engine/pretrained/write-pretrained.ts'
import { readHuggingFaceTokeniser } from '../../src/engine/tokenisers/hugging-face-tokeniser.ts'

const window = 64

export interface Learning {
  readonly steps: number
  /** Small random models want more than large trained ones. */
  readonly learningRate: number
}

export async function learnText(
  modelFolder: string,
  text: string,
  newFolder: string,
  { steps, learningRate }: Learning,
) {
  // Before anything is trained, for it would be in vain.
  if (existsSync(newFolder)) throw new Error(`${newFolder} is already there: give a folder that is not`)
  const { model, values, tokeniserPath } = readPretrained(modelFolder, { contextLength: 2 * window })
  const tokeniser = readHuggingFaceTokeniser(tokeniserPath!)
  const adapters = { rank: 8, alpha: 16, projections: ['attention.query', 'attention.value', 'feedForward.up'] }
  const engine = createEmbeddedEngine({ threads: 2 })
  const trainer = await engine.createTrainer({ model, values, adapters, seed: 1 })

  const tokens = tokeniser.encode(text, { template: true })
  const data = Array.from({ length: Math.ceil((tokens.length - 1) / window) }, (_, index) => {
    const input = tokens.subarray(index * window, Math.min((index + 1) * window, tokens.length - 1))
    const targets = tokens.subarray(index * window + 1, index * window + 1 + input.length)
    return { input: { tokens: input }, targets, weights: new Float32Array(input.length).fill(1 / (tokens.length - 1)) }
  })
  const loss = { kind: 'cross_entropy' } as const
  const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate }] as const
  for (let step = 0; step < steps; step++) {
    await trainer.forwardBackward(data, loss)
    await trainer.optimStep({ groups, clipNorm: 1 })
  }
  // The base is still there: a datum can ask for it.
  const before = await trainer.forward(
    data.map(datum => ({ ...datum, adapter: false })),
    loss,
  )
  const after = await trainer.forward(data, loss)

  const sampler = await trainer.snapshot()
  const prompt = { tokens: tokens.subarray(0, Math.ceil(window / 8)) }
  const [samples] = await sampler.sample([{ prompt, maximumTokens: 24, temperature: 0 }])
  const said = tokeniser.decode([...prompt.tokens, ...samples![0]!.tokens])

  const adapted = new Map([...values, ...(await trainer.values())])
  writePretrained(newFolder, { model, values: adapted, adapters, from: modelFolder })
  await engine.dispose()
  return { before: before.lossSum, after: after.lossSum, said }
}

async function main([modelFolder, textFile, newFolder]: readonly string[]): Promise<void> {
  if (!newFolder) throw new Error('Usage: node examples/engine/adapters.ts MODEL_FOLDER TEXT_FILE NEW_FOLDER')
  const text = readFileSync(textFile!, 'utf8')
  const { before, after, said } = await learnText(modelFolder!, text, newFolder, { steps: 30, learningRate: 3e-4 })
  console.log(`loss of the text ${before.toFixed(2)} → ${after.toFixed(2)} nats a token`)
  console.log(said)
}

if (import.meta.main)
  await main(process.argv.slice(2)).catch(error => {
    console.error((error as Error).message)
    process.exitCode = 1
  })
