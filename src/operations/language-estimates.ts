/** What an evaluation will ask of language models, before it asks. */
import { questionsOf, type RollingPlan } from '../forecast/evaluate-rolling.ts'
import type { HistoryKind } from '../forecast/history-kind.ts'
import type { Problem } from '../forecast/language/controls.ts'
import { estimateText } from '../forecast/language/figures.ts'
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
