/** From candidates to the questions that are asked about them, and what those will take. */
import type { Environment } from '../../experiment/environment.ts'
import type { Candidate, ExperimentRecord } from '../../experiment/record.ts'
import type { Answers } from '../../language/answers.ts'
import { estimateOf, type Question, questionKey } from '../../language/ask.ts'
import { parseModelName } from '../../language/model-name.ts'
import { costOf, noUsage, tokensOf, type Usage } from '../../language/usage.ts'
import { seededRandom } from '../../statistics/random.ts'
import { answerSchema, type ModelAnswer, problemWith } from './answer.ts'
import { chooseRecords } from './choose-records.ts'
import { instructions, label, ownPart, sharedPart } from './prompt.ts'
import type { LanguageSettings } from './settings.ts'

export interface PlannedQuestion {
  readonly question: Question<ModelAnswer>
  /** Which candidates it asks about, in the order of its labels. */
  readonly asked: readonly number[]
}

export interface Plan {
  /** Ids of the records that every question shows. */
  readonly recordIds: readonly number[]
  readonly questions: readonly PlannedQuestion[]
}

/** Tokens of one candidate's answer, and room to think; a model that is not told how hard may think by itself. */
const answerTokens = 400
const thinkingTokens = {
  none: 1000,
  minimal: 2000,
  low: 4000,
  medium: 8000,
  high: 16_000,
  xhigh: 32_000,
  max: 32_000,
  untold: 8000,
}

function mostOutput({ outputTokens, context, effort }: LanguageSettings, candidates: number): number {
  const wanted = outputTokens ?? thinkingTokens[effort ?? 'untold'] + answerTokens * candidates
  return Math.max(1, Math.min(wanted, Math.floor(context / 4)))
}

/** What a question about one candidate without history may take: every other may take more. */
export function smallestQuestion(settings: LanguageSettings, environment: Environment): Usage {
  const shared = sharedPart(environment, [])
  return estimateOf({ instructions, shared, own: '', maxOutputTokens: mostOutput(settings, 1) })
}

/** Why a budget does not reach for a single question, as a sentence; null where it may. `cost` limits the money too. */
export function tooSmallBudget(settings: LanguageSettings, environment: Environment, cost?: number): string | null {
  const { budget, price, model } = settings
  const least = smallestQuestion(settings, environment)
  const tokens = least.input + least.output
  const money = costOf(least, price ?? null)
  const most = Math.min(budget.cost ?? Infinity, cost ?? Infinity)
  const out = `${least.output} of them out`
  const help = 'raise the budget, or lower "outputTokens" of "language" or the effort.'
  if (budget.tokens !== undefined && tokens > budget.tokens)
    return `One question to ${model} may take ${tokens} tokens (${out}), and its budget is ${budget.tokens}: ${help}`
  if (money !== null && money > most)
    return `One question to ${model} may cost ${money.toPrecision(3)} (${tokens} tokens, ${out}), and its budget is ${most}: ${help}`
  return null
}

export function planQuestions(
  settings: LanguageSettings,
  environment: Environment,
  history: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
  seed: number,
): Plan {
  const { batch, repeats, context } = settings
  const everyone = [...candidates.keys()]
  const groups = Array.from({ length: repeats }, (_, repeat) => {
    // A position in the list must not favour a candidate.
    if (batch) return [seededRandom(`${seed}/language/${repeat}`).shuffle(everyone)]
    return everyone.map(index => [index])
  })
  const maxOutputTokens = mostOutput(settings, batch ? candidates.length : 1)

  const owns = new Map(groups.flat().map(group => [group, ownPart(group.map(index => candidates[index]!))]))
  const fixed = instructions.length + sharedPart(environment, []).length
  const longest = Math.max(0, ...[...owns.values()].map(own => own.length))
  const room = 3 * (context - maxOutputTokens) - fixed - longest
  const records = chooseRecords(environment, history, candidates, room)
  const recordIds = records.map(({ id }) => id)
  const known = new Set(recordIds)
  const shared = sharedPart(environment, records)

  const questions = groups.flatMap((group, repeat) =>
    group.map((asked): PlannedQuestion => {
      const labels = asked.map((_, index) => label(index))
      return {
        asked,
        question: {
          instructions,
          shared,
          own: owns.get(asked)!,
          schema: answerSchema(labels, records.length),
          check: answer => problemWith(answer, labels, known),
          seed: 1000 * seed + repeat,
          maxOutputTokens,
        },
      }
    }),
  )
  return { recordIds, questions }
}

/** What questions will take if each is answered at once: between the first and the last figure of each pair. */
export interface Estimate {
  readonly questions: number
  /** Questions that were answered before, or stand among these already: they cost nothing, and are in no other figure. */
  readonly kept: number
  /** Tokens in; of these, what every question but the first of its history has in common with it. */
  readonly input: number
  readonly shared: number
  /** Tokens out, at most. */
  readonly output: number
  /** Money: with everything shared found in the prompt cache and short answers, and at most. Null without a price. */
  readonly cost: readonly [least: number, most: number] | null
}

/** Plans of any histories, together. `answers`: what was paid for before; null where nothing is kept. */
export function estimateQuestions(
  plans: Iterable<Pick<Plan, 'questions'>>,
  settings: LanguageSettings,
  answers: Answers | null,
): Estimate {
  const name = parseModelName(settings.model)
  const seen = new Set<string>()
  let [asked, kept, input, output, shared] = [0, 0, 0, 0, 0]
  for (const { questions } of plans) {
    let isFirst = true
    for (const { question } of questions) {
      const key = questionKey(question, name, settings.effort)
      if (seen.has(key) || (answers?.get(key) ?? null) !== null) {
        kept++
        continue
      }
      seen.add(key)
      const estimate = estimateOf(question)
      asked++
      input += estimate.input
      output += estimate.output
      if (!isFirst) shared += tokensOf(question.shared.length)
      isFirst = false
    }
  }
  const price = settings.price ?? null
  const least = costOf({ ...noUsage, input, cached: shared, output: asked * 100 }, price)
  const most = costOf({ ...noUsage, input, output }, price)
  return { questions: asked, kept, input, shared, output, cost: least === null ? null : [least, most!] }
}
