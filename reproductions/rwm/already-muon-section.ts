/**
 * The case of the recipe that already has Muon, as a section of the page.
 */
import type { ExperimentRecord } from '../../src/experiment/record.ts'
import { gainText } from '../../src/report/numbers.ts'
import { mean } from '../../src/statistics/summary.ts'
import type { MuonCase } from './already-muon.ts'
import { numberText, table } from './markdown.ts'

const shown = ['neighbours', 'ridge', 'kernel'] as const

export function muonSection(muon: MuonCase | null): string {
  if (muon === null) return ''
  const { target, sources, seen, rows } = muon
  const signed = (value: number) => `${value > 0 ? '+' : ''}${numberText(value, 4)}`
  const judged = rows.filter(({ record }) => record.measured!.gain !== 0)
  const results = shown.map((name, index) => {
    const agreeing = judged.filter(
      ({ record, forecasts }) => Math.sign(forecasts[index]!.quantiles[2]) === Math.sign(record.measured!.gain),
    )
    const errors = rows.map(({ record, forecasts }) => Math.abs(forecasts[index]!.quantiles[2] - record.measured!.gain))
    return { name, right: agreeing.length, error: numberText(mean(errors), 4) }
  })
  return `
## The case: a recipe that already has Muon

In the paper, the nanochat recipe already uses Muon; nearest neighbours, having seen Muon help elsewhere, predict +0.018 for a variant of it, and the truth is −0.036. Here: forecasts for \`${target}\`, whose reference has Muon, from records of ${sources.map(name => `\`${name}\``).join(', ')} alone. There, turning Muon on brought ${seen.length === 0 ? 'nothing that was measured' : seen.map(({ measured }) => gainText(measured)).join('; ')}.

${table(
  ['candidate', 'changes', ...shown, 'measured'],
  rows.map(({ record, forecasts }) => [
    record.intervention.origin ?? record.intervention.sentence,
    changesText(record),
    ...forecasts.map(({ quantiles }) => signed(quantiles[2])),
    gainText(record.measured),
  ]),
)}

The sign is right in, of ${judged.length}: ${results.map(({ name, right }) => `${name} ${right}`).join(', ')}. The mean absolute error is ${results.map(({ name, error }) => `${error} for ${name}`).join(', ')}; of saying that nothing changes, ${numberText(mean(rows.map(({ record }) => Math.abs(record.measured!.gain))), 4)}.
`
}

function changesText({ changes }: ExperimentRecord): string {
  const value = (json: unknown) =>
    json === undefined ? 'absent' : typeof json === 'string' ? json : JSON.stringify(json)
  return changes.map(({ option, from, to }) => `${option} ${value(from)} → ${value(to)}`).join(', ')
}
