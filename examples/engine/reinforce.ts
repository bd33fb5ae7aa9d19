/**
 * A policy learns to sort letters from rewards alone, with the whole loop written out: which questions, what was tried, how good it was, who
 * gets the credit, what to change. From random weights, in some seconds.
 *
 * Run:  node examples/engine/reinforce.ts
 */
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import { policyDatum } from '../../src/engine/policy-datum.ts'
import { characterTokeniser } from '../../src/engine/tokenisers/character-tokeniser.ts'
import type { Trainer } from '../../src/engine/training.ts'
import { seededRandom } from '../../src/statistics/random.ts'

const letters = [...'abcde']
const tokeniser = characterTokeniser(`${letters.join('')}:`)
const questions = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c)))
const length = 3

const answerTo = (question: string): string => [...question].sort().join('')
const promptOf = (question: string) => ({ tokens: tokeniser.encode(`${question}:`) })
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** The share of letters that stand where they should. */
function reward(question: string, answer: string): number {
  const right = answerTo(question)
  return mean([...right].map((letter, place) => Number(answer[place] === letter)))
}

/** The probability of the right answer, as a mean over all questions, and what is answered to one of them at temperature 0. */
async function examine(trainer: Trainer) {
  const sampler = await trainer.snapshot()
  const scores = await sampler.score(
    questions.map(question => {
      const tokens = tokeniser.encode(`${question}:${answerTo(question)}`)
      return { input: { tokens: tokens.subarray(0, -1) }, targets: tokens.subarray(1) }
    }),
  )
  const probabilities = scores.map(({ logProbabilities }) =>
    Math.exp(logProbabilities.subarray(-length).reduce((sum, value) => sum + value, 0)),
  )
  const [samples] = await sampler.sample([{ prompt: promptOf('dab'), maximumTokens: length, temperature: 0 }])
  await sampler.dispose()
  return { right: mean(probabilities), answer: tokeniser.decode(samples![0]!.tokens) }
}

/** Draws samples of some questions and takes two steps with them. Returns their mean reward. */
async function learn(trainer: Trainer, asked: readonly string[], learningRate: number): Promise<number> {
  const sampler = await trainer.snapshot()
  const requests = asked.map(question => {
    return { prompt: promptOf(question), samples: 8, maximumTokens: length, seed: trainer.version }
  })
  const groups = await sampler.sample(requests)
  await sampler.dispose()

  const rewards = groups.map((group, index) =>
    group.map(({ tokens }) => reward(asked[index]!, tokeniser.decode(tokens))),
  )
  const half = Math.ceil(asked.length / 2)
  // The credit of a sample is how much better it is than the mean of its question. Losses are sums: 1 / n makes a mean.
  const data = groups.map((group, index) => {
    const baseline = mean(rewards[index]!)
    return group.map((sample, place) => {
      const advantage = (rewards[index]![place]! - baseline) / (group.length * half)
      return policyDatum(requests[index]!.prompt, sample, advantage)
    })
  })
  // At the second step the weights are no longer those that drew the samples, which ppo takes into account.
  for (const part of [data.slice(0, half), data.slice(half)]) {
    await trainer.forwardBackward(part.flat(), { kind: 'ppo' })
    await trainer.optimStep({
      groups: [
        { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 1.5 * learningRate },
        { match: () => true, optimiser: { kind: 'adamw' }, learningRate },
      ],
      clipNorm: 1,
    })
  }
  return mean(rewards.flat())
}

/** Tells of every tenth round. Returns the probability of a right answer at the end. */
export async function learnToSort(rounds: number, tell: (line: string) => void): Promise<number> {
  const engine = createEmbeddedEngine()
  const model = decoder({
    vocabulary: tokeniser.vocabulary,
    contextLength: 2 * length,
    depth: 1,
    width: 32,
    heads: 2,
    positions: 'learned',
    activation: 'gelu',
  })
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const random = seededRandom('questions')
  for (let round = 0; round < rounds; round++) {
    const meanReward = await learn(trainer, random.sample(questions, 64), 0.01 * (1 - (0.9 * round) / rounds))
    if (round % 10 > 0) continue
    const { right, answer } = await examine(trainer)
    const percent = (share: number) => `${(100 * share).toFixed(0)} %`
    tell(`round ${round}: mean reward ${percent(meanReward)}, right ${percent(right)}; dab: ${answer}`)
  }
  const { right } = await examine(trainer)
  await engine.dispose()
  return right
}

if (import.meta.main) {
  const right = await learnToSort(80, console.log)
  console.log(`in the end ${(100 * right).toFixed(1)} % of answers are right; by chance it would be 1 of 216`)
}
