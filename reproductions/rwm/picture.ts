/**
 * The picture: rank correlation and regret by condition and forecaster, with 95 % intervals. One SVG that needs nothing
 * else and follows the reader's light or dark setting; the same numbers give the same bytes.
 */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { Measure } from '../../src/forecast/quality.ts'
import { type Estimate, intervalOf } from '../../src/statistics/bootstrap.ts'
import type { Comparison } from './comparison.ts'
import { type Condition, conditions, conditionTitles } from './conditions.ts'

const panelWidth = 520
const height = 576
const marginLeft = 90

/** Okabe and Ito's colours and greys; the place on the axis tells the forecasters apart as well. */
const style = `
svg { font: 13px system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; --paper: #fdfcf9; --ink: #22211e; --soft: #66635b;
  --constant: #8a867c; --recent: #8a867c; --neighbours: #c2500a; --ridge: #8d5fa8; --kernel: #0067a5; --plot-background: #fdfcf9; color: #22211e; }
@media (prefers-color-scheme: dark) { svg { --paper: #191a1c; --ink: #e6e3dc; --soft: #a19d94;
  --constant: #98958d; --recent: #98958d; --neighbours: #f0935a; --ridge: #c79be0; --kernel: #62b5ee; --plot-background: #191a1c; color: #e6e3dc; } }
.ground { fill: var(--paper); } .soft { fill: var(--soft); } .title { fill: currentColor; font-size: 15px; font-weight: 600; }`

interface Point {
  readonly condition: Condition
  readonly forecaster: string
  readonly value: number
  readonly low: number
  readonly high: number
}

export function drawPicture(comparisons: readonly Comparison[], ceiling: Estimate): string {
  const spearman = panel(comparisons, 'spearman', {
    label: 'Spearman, larger is better →',
    rule: Number.isNaN(ceiling.value) ? null : { at: ceiling.value, label: 'one seed by another' },
  })
  const regret = panel(comparisons, 'regret', {
    label: '← Regret@3 in the metric’s units, smaller is better',
    rule: null,
  })
  const width = 2 * panelWidth
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + 70}" width="${width}" height="${height + 70}" role="img" aria-label="Rank correlation and regret by condition and forecaster">`,
    `<style>${style}</style><rect class="ground" width="100%" height="100%"/>`,
    `<text class="title" x="16" y="26">How well forecasts rank what was measured, and what choosing 3 of 16 by them misses</text>`,
    `<text class="soft" x="16" y="47">Mean over the environments; bars are 95 % bootstrap intervals over near-duplicate groups.</text>`,
    nested(spearman, 0),
    nested(regret, panelWidth),
    '</svg>\n',
  ].join('\n')
}

function nested(svg: string, x: number): string {
  return svg.replace('<svg ', `<svg x="${x}" y="56" `)
}

function panel(
  comparisons: readonly Comparison[],
  measure: Measure,
  { label, rule }: { label: string; rule: { at: number; label: string } | null },
): string {
  const points: Point[] = comparisons
    .map(({ condition, forecaster, overall }) => {
      const estimate = overall[measure]
      return { condition, forecaster, value: estimate.value, ...intervalOf(estimate) }
    })
    .filter(({ value }) => !Number.isNaN(value))
  const names = [...new Set(comparisons.map(({ forecaster }) => forecaster))]
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const colour = ({ forecaster }: Point) => `var(--${forecaster})`
  const undefinedRows = comparisons.filter(({ overall }) => Number.isNaN(overall[measure].value))
  const zero = Math.min(0, ...points.map(({ low, value }) => Math.min(low, value)))
  const figure = Plot.plot({
    document: document as never,
    className: 'plot',
    width: panelWidth,
    height,
    marginLeft,
    marginRight: 24,
    marginTop: 24,
    marginBottom: 44,
    x: {
      label,
      labelAnchor: 'center',
      labelArrow: 'none',
      domain: [zero, Math.max(...points.map(({ high, value }) => Math.max(high, value)), rule?.at ?? 0) || 1],
      nice: true,
      grid: true,
      ticks: 6,
    },
    y: { domain: names, label: null, tickSize: 0, padding: 0.5 },
    fy: { domain: conditions, axis: null, padding: 0.24 },
    marks: [
      Plot.text(conditions, {
        fy: (condition: Condition) => condition,
        text: (condition: Condition) => conditionTitles[condition],
        frameAnchor: 'top-left',
        dy: -13,
        dx: 2 - marginLeft + 12,
        fontWeight: 600,
      }),
      Plot.ruleX([0], { stroke: 'currentColor', strokeOpacity: 0.5 }),
      rule === null
        ? null
        : Plot.ruleX([rule.at], { stroke: 'currentColor', strokeDasharray: '4,3', strokeOpacity: 0.8 }),
      rule === null
        ? null
        : Plot.text([rule], {
            fy: () => conditions[0],
            x: 'at',
            text: 'label',
            frameAnchor: 'middle',
            textAnchor: 'end',
            dx: -5,
            fill: 'var(--soft)',
          }),
      Plot.ruleY(points, {
        fy: 'condition',
        y: 'forecaster',
        x1: 'low',
        x2: 'high',
        stroke: colour,
        strokeWidth: 2,
        strokeOpacity: 0.55,
      }),
      Plot.dot(points, { fy: 'condition', y: 'forecaster', x: 'value', r: 4, fill: colour }),
      Plot.text(undefinedRows, {
        fy: 'condition',
        y: 'forecaster',
        x: () => 0,
        text: () => 'no ranking',
        textAnchor: 'start',
        dx: 6,
        fill: 'var(--soft)',
        fontSize: 11,
      }),
    ].filter(mark => mark !== null) as never,
  })
  figure.querySelector('style')?.remove()
  return figure.toString()
}
