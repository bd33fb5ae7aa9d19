/**
 * The environment: what is measured and how, the reference, and the line of references that led to it.
 */
import { type Constraint, type Environment, type Metric, objectiveOf } from '../experiment/environment.ts'
import type { Json } from '../experiment/json.ts'
import { html, type Insertion, type Markup } from './markup.ts'
import { countText, durationText, gainText, plainNumber } from './numbers.ts'
import { bounded, singleLine } from './outside-text.ts'
import type { LineageStep, ReportData } from './report-data.ts'
import { versionName } from './version-name.ts'

const longestConfiguration = 8000

export function environmentSection({ environment, lineage }: ReportData): Markup {
  const { family } = environment
  const rest = family.metrics.slice(1)
  const evaluator = Object.keys(family.evaluator)
  return html`<section><h2>Environment</h2>
<p><bdi>${bounded(family.description, 2000)}</bdi></p>
<dl class="facts">
${fact('objective', metricText(objectiveOf(family)))}
${fact('also kept', rest.map(metricText).join('; '))}
${fact('constraints', family.constraints.map(constraintText).join('; '))}
${fact('budget of a run', budgetText(environment))}
${fact('command', family.command === null ? '' : html`<code>${commandText(family.command)}</code>`)}
${fact('data', list(family.data))}
${fact('evaluator', list(evaluator))}
${fact('hardware', singleLine(bounded(family.hardware ?? '', 200)))}
${fact('reference', referenceText(environment))}
</dl>
${configuration(environment.version.reference.configuration)}
<h3>Lineage</h3>
${lineageList(lineage, objectiveOf(family))}
</section>`
}

function fact(term: string, description: Insertion): Markup | null {
  return description === '' ? null : html`<dt>${term}</dt><dd><bdi>${description}</bdi></dd>`
}

function list(names: readonly string[]): string {
  return bounded(names.map(singleLine).join(', '), 1000)
}

function metricText({ name, direction, unit }: Metric): string {
  const words = direction === 'minimize' ? 'smaller is better' : 'larger is better'
  return `${singleLine(bounded(name, 100))}${unit === undefined ? '' : ` in ${singleLine(bounded(unit, 60))}`}, ${words}`
}

/** `parameters at most 1.25 times the reference’s`. */
export function constraintText({ metric, atMost, atLeast, relativeTo }: Constraint): string {
  const of = relativeTo === 'reference' ? ' times the reference’s' : ''
  const bounds = [
    atLeast === undefined ? '' : `at least ${plainNumber(atLeast)}${of}`,
    atMost === undefined ? '' : `at most ${plainNumber(atMost)}${of}`,
  ]
  return `${singleLine(bounded(metric, 100))} ${bounds.filter(Boolean).join(' and ')}`
}

function budgetText({ family: { budget } }: Environment): string {
  return [
    budget.seconds === undefined ? '' : durationText(budget.seconds),
    budget.memoryMegabytes === undefined ? '' : `${plainNumber(budget.memoryMegabytes)} MB of memory`,
  ]
    .filter(Boolean)
    .join(', ')
}

function commandText(command: string | readonly string[]): string {
  return bounded(
    singleLine(
      typeof command === 'string'
        ? command
        : command.map(word => (/^[\w./{}=:@-]+$/.test(word) ? word : JSON.stringify(word))).join(' '),
    ),
    1000,
  )
}

function referenceText({ version: { reference } }: Environment): string {
  return [
    reference.label === undefined ? '' : singleLine(bounded(reference.label, 200)),
    reference.commit === null ? '' : `commit ${singleLine(reference.commit.slice(0, 12))}`,
    reference.code === null ? '' : `code ${singleLine(reference.code.slice(0, 12))}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function configuration(value: Json): Markup | null {
  if (value === null) return null
  return html`<details><summary>configuration of the reference</summary><pre><bdi>${bounded(JSON.stringify(value, null, 2), longestConfiguration)}</bdi></pre></details>`
}

function lineageList(lineage: readonly LineageStep[], objective: Metric): Markup {
  if (lineage.length === 0) return html`<p class="empty">No version is known.</p>`
  const name = singleLine(bounded(objective.name, 60))
  const steps = lineage.map(step => {
    const measured =
      step.objective === null
        ? 'not measured yet'
        : `${name} ${plainNumber(step.objective)}, median of ${countText(step.referenceRuns, 'run')}`
    const origin =
      step.promoted === null
        ? html`where it began`
        : html`promoted: <bdi>${singleLine(bounded(step.promoted.sentence, 300))}</bdi>${
            step.promoted.gain === null
              ? null
              : html` <span class="number">(${gainText(step.promoted.gain)} against the one before)</span>`
          }`
    return html`<li>${versionName(lineage, step.version.id)}, ${origin}<br><span class="note">${measured}</span></li>
`
  })
  return html`<ol class="lineage">${steps}</ol>`
}
