/**
 * The forecaster `language`: a language model that reads environment, history and candidates and answers with quantiles, the
 * chance of finishing and what it goes by. After RWM ("Language Models as AI Research World Models", arXiv 2610.12235): the
 * model is frozen, and all it learns is in what it is shown.
 */

import { existsSync } from 'node:fs'
import { type FailedForecast, type Forecast, hasFailed, type ModelUse } from '../../experiment/record.ts'
import { type Answers, openAnswers } from '../../language/answers.ts'
import type { Answer } from '../../language/ask.ts'
import { askAll } from '../../language/ask-all.ts'
import { startMeter } from '../../language/budget.ts'
import { type OpenModel, openModel } from '../../language/open-model.ts'
import { addUsage, costOf, noUsage, type Usage } from '../../language/usage.ts'
import { mean } from '../../statistics/summary.ts'
import type { Forecaster } from '../forecaster.ts'
import { mapQuantiles } from '../quantiles.ts'
import { type CandidateAnswer, type ModelAnswer, quantilesOf } from './answer.ts'
import type { Problem } from './controls.ts'
import { endedText, estimateText, type Spent, spentText } from './figures.ts'
import { promptVersion } from './prompt.ts'
import { type Estimate, estimateQuestions, planQuestions } from './questions.ts'
import type { LanguageSettings } from './settings.ts'

export interface LanguageSurroundings {
  /** The file of answers that were paid for before; null keeps none. */
  readonly answers: string | null
  /** Keys are read from here. */
  readonly variables: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Counts towards the budget too. */
  readonly before?: Usage | undefined
  /** Told the estimate before the first question, and the figures after the last, or when it ends before. */
  tell(text: string): void
  /** Told after each question: how many have an answer, of all calls that were estimated or made so far. */
  progress?(answered: number, of: number): void
}

export interface LanguageForecaster {
  readonly forecast: Forecaster
  /** What calls would take at most, all together, without asking and without what was answered before. */
  estimate(problems: Iterable<Problem>, options: { readonly seed: number }): Estimate
  spent(): Spent
}

/** What a candidate got of the answers. */
interface Got {
  readonly answers: CandidateAnswer[]
  asked: number
  usage: Usage
  reason: string
}

/** Its budget is for all its calls together. */
export function languageForecaster(settings: LanguageSettings, surroundings: LanguageSurroundings): LanguageForecaster {
  const price = settings.price ?? null
  const meter = startMeter(settings.budget, price, surroundings.before)
  let opened: Promise<OpenModel> | undefined
  let [kept, answered, asked, estimated] = [0, 0, 0, 0]
  const failed: string[] = []
  const spent = (): Spent => ({ usage: meter.spent(), cost: costOf(meter.spent(), price), kept, failed })

  const forecast: Forecaster = async (environment, history, candidates, { seed }) => {
    if (candidates.length === 0) return []
    const { signal, variables, tell, progress } = surroundings
    opened ??= openModel(settings.model, variables)
    const model = await opened
    using answers = surroundings.answers === null ? null : orTold(openAnswers(surroundings.answers), tell)
    const { questions, recordIds } = planQuestions(settings, environment, history, candidates, seed)
    tell(estimateText(settings, estimateQuestions([{ questions }], settings, answers)))

    const got = candidates.map((): Got => ({ answers: [], asked: 0, usage: noUsage, reason: '' }))
    const { concurrency = model.name.kind === 'endpoint' ? 1 : 4, ...asking } = settings
    asked += questions.length
    const given = await askAll(
      questions.map(({ question }) => question),
      { ...asking, model, meter, answers, signal },
      concurrency,
      () => progress?.(++answered, Math.max(asked, estimated)),
    ).catch(error => {
      if (signal.aborted || meter.spent().requests > 0) tell(endedText(settings, spent(), answers !== null))
      throw error
    })
    given.forEach((answer, index) => {
      if ('kept' in answer && answer.kept) kept++
      hand(answer, questions[index]!.asked, got)
    })
    const use = ({ usage }: Got): ModelUse => ({
      name: model.name.text,
      effort: settings.effort ?? null,
      usage,
      cost: costOf(usage, price),
    })
    const forecasts = got.map(each => forecastFrom(each, use(each), recordIds))
    failed.push(...forecasts.filter(hasFailed).map(({ failed }) => failed))
    tell(spentText(settings, spent()))
    return forecasts
  }

  const estimate: LanguageForecaster['estimate'] = (problems, { seed }) => {
    // Only read: who merely asks what it would take leaves no file behind.
    const isKept = surroundings.answers !== null && existsSync(surroundings.answers)
    using answers = isKept ? openAnswers(surroundings.answers!) : null
    const plans = Iterator.from(problems).map(({ environment, history, candidates }) =>
      planQuestions(settings, environment, history, candidates, seed),
    )
    const estimate = estimateQuestions(plans, settings, answers)
    estimated += estimate.questions + estimate.kept
    return estimate
  }

  return { forecast, estimate, spent }
}

/** An answer that was paid for is used also where it cannot be kept: the disk may be full. */
function orTold(answers: Answers, tell: (text: string) => void): Answers {
  let isTold = false
  const put: Answers['put'] = (key, answer) => {
    try {
      answers.put(key, answer)
    } catch (error) {
      if (!isTold)
        tell(`Answers are used and cannot be kept, so that they would be paid for again: ${(error as Error).message}`)
      isTold = true
    }
  }
  return { ...answers, put }
}

/** Hands one answer out to the candidates it was asked about, who share what it took. */
function hand(answer: Answer<ModelAnswer>, asked: readonly number[], got: readonly Got[]): void {
  const { usage } = answer
  const share = {
    requests: usage.requests / asked.length,
    input: usage.input / asked.length,
    cached: usage.cached / asked.length,
    output: usage.output / asked.length,
  }
  asked.forEach((candidate, index) => {
    const mine = got[candidate]!
    mine.asked++
    mine.usage = addUsage(mine.usage, share)
    if ('failed' in answer) mine.reason = answer.failed
    else mine.answers.push(answer.answer.forecasts.find(each => each.candidate === `C${index + 1}`)!)
  })
}

/** The mean of the answers, quantile by quantile; failed where there is none. */
function forecastFrom(
  { answers, asked, reason }: Got,
  model: ModelUse,
  recordIds: readonly number[],
): Forecast | FailedForecast {
  const made = { forecaster: 'language', forecasterVersion: promptVersion, recordIds, model }
  if (answers.length === 0) return { failed: reason, ...made }
  const byAnalogy = answers.filter(({ basis }) => basis === 'analogy').length
  return {
    quantiles: mapQuantiles(level => mean(answers.map(answer => quantilesOf(answer)[level]!))),
    finishes: mean(answers.map(({ finishes }) => finishes)),
    ...made,
    explanation: {
      closest: [...new Set(answers.flatMap(({ closest }) => closest))],
      basis: 2 * byAnalogy >= answers.length ? 'analogy' : 'mechanism',
      uncertainty: answers[0]!.uncertainty,
      answers: answers.length,
      asked,
    },
  }
}
