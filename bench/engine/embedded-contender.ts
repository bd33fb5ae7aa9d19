/**
 * The embedded engine as a contender of bench/engine.ts, which starts it and says when to go: one block of work for each line
 * that it sends, answered by one line of JSON. `train`: forwardBackward and optimStep; `sample`: a call of sample with as
 * many prompts as there are rows. With `profile`, where the time of the first block went stands in its answer, and there is no second.
 *
 * Run:  node embedded-contender.ts '{"task": "train", "width": 96, ...}'
 */
import { createInterface } from 'node:readline'
import { env } from 'onnxruntime-node'
import type { CrossEntropyDatum } from '../../src/engine/datum.ts'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import type { Options } from './contender.ts'
import { profiled } from './profile.ts'
import { configurationOf } from './sizes.ts'

const options = JSON.parse(process.argv[2]!) as Options
const { task, rows, positions, newTokens, threads, warmUp } = options
const idleMebibytes = process.memoryUsage.rss() / 2 ** 20
const sessions = options.profile ? profiled() : null
const model = decoder(configurationOf(options, positions + newTokens))
const engine = createEmbeddedEngine({ threads })
const trainer = await engine.createTrainer({ model, seed: 1 })
const random = seededRandom(1)
const tokens = () => Int32Array.from({ length: positions }, () => random.integer(model.vocabulary))

function training(): () => Promise<unknown> {
  const weights = new Float32Array(positions).fill(1 / (rows * positions))
  const data: CrossEntropyDatum[] = Array.from({ length: rows }, () => ({
    input: { tokens: tokens() },
    targets: tokens(),
    weights,
  }))
  const groups = [
    { match: () => true, optimiser: { kind: 'adamw', betas: [0.9, 0.95] }, learningRate: 3e-3, weightDecay: 0.1 },
  ] as const
  return async () => {
    await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    await trainer.optimStep({ groups, clipNorm: 1 })
  }
}

async function sampling(): Promise<() => Promise<unknown>> {
  const sampler = await trainer.snapshot()
  const prompts = Array.from({ length: rows }, tokens)
  let seed = 0
  return async () => {
    seed++
    const samples = await sampler.sample(
      prompts.map(prompt => ({ prompt: { tokens: prompt }, maximumTokens: newTokens, seed })),
    )
    if (samples.some(([sample]) => sample!.tokens.length !== newTokens)) throw new Error('a sample is too short')
  }
}

const step = task === 'train' ? training() : await sampling()
const warmUpSeconds: number[] = []
for (let sum = 0; warmUpSeconds.length < warmUp && sum < 10; sum += warmUpSeconds.at(-1)!) {
  const start = performance.now()
  await step()
  warmUpSeconds.push((performance.now() - start) / 1000)
}
sessions?.restart()
const parameters = model.parameters.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b), 0)
const say = (value: object) => console.log(JSON.stringify(value))
say({ version: `onnxruntime-node ${env.versions.node}`, parameters, idleMebibytes, stepSeconds: warmUpSeconds.at(-1) })

for await (const line of createInterface({ input: process.stdin })) {
  const seconds: number[] = []
  const processorSeconds: number[] = []
  for (let sum = 0; sum < Number(line); sum += seconds.at(-1)!) {
    const start = performance.now()
    const processorStart = process.cpuUsage()
    await step()
    seconds.push((performance.now() - start) / 1000)
    const { user, system } = process.cpuUsage(processorStart)
    processorSeconds.push((user + system) / 1e6)
  }
  const profile = sessions?.end()
  say({ seconds, processorSeconds, peakMebibytes: process.resourceUsage().maxRSS / 1024, profile })
}
await engine.dispose()
