/** What an evaluation will ask of language models, before it asks; and what it took, also where it is stopped. */
import { questionsOf, type RollingPlan } from '../forecast/evaluate-rolling.ts'
import type { HistoryKind } from '../forecast/history-kind.ts'
import type { Problem } from '../forecast/language/controls.ts'
import { endedText, estimateText, spentText } from '../forecast/language/figures.ts'
import type { Estimate } from '../forecast/language/questions.ts'
import { countText } from '../report/numbers.ts'
import type { Compared } from './entrants.ts'
import type { Context } from './operation.ts'

/** Everything that an entrant with that history is asked, without a control. */
export function* problemsOf(plan: RollingPlan, history: HistoryKind): Generator<Problem> {
  for (const { tested, ...problem } of questionsOf(plan, history)) yield { ...problem, candidates: tested }
}

/** Before a model is asked: what all its questions together will take at most, with every history and control. */
export function tellEstimates(entrants: readonly Compared[], plan: RollingPlan, seed: number, context: Context): void {
  const together: Estimate[] = []
  for (const [language, asking] of Map.groupBy(entrants, ({ language }) => language)) {
    if (language === undefined) continue
    const problems = function* (): Generator<Problem> {
      for (const { history, control } of asking) {
        for (const problem of problemsOf(plan, history)) yield control?.of(problem, seed) ?? problem
      }
    }
    const estimate = language.forecaster.estimate(problems(), { seed })
    together.push(estimate)
    context.emit({ type: 'note', text: estimateText(language.settings, estimate) })
  }
  if (together.length < 2) return
  const [questions, tokens] = [
    together.reduce((sum, { questions }) => sum + questions, 0),
    together.reduce((sum, { input, output }) => sum + input + output, 0),
  ]
  const text = `Together ${countText(questions, 'question')}, at most ${tokens.toLocaleString('en-US')} tokens in and out.`
  context.emit({ type: 'note', text })
}

/** What each model took, once `evaluating` has ended, by itself or not. */
export async function tellingSpent<T>(
  entrants: readonly Compared[],
  context: Context,
  evaluating: Promise<T>,
): Promise<T> {
  const models = new Set(entrants.flatMap(({ language }) => language ?? []))
  const tell = (textOf: typeof spentText) => {
    for (const { settings, forecaster } of models) {
      context.emit({ type: 'note', text: textOf(settings, forecaster.spent()) })
    }
  }
  try {
    const evaluated = await evaluating
    tell(spentText)
    return evaluated
  } catch (error) {
    tell((settings, spent) => endedText(settings, spent, true))
    throw error
  }
}
