/**
 * The drawings of the report, by Observable Plot on linkedom's document: every call of Plot is here. Each returns SVG
 * text with colours as CSS variables, so that one drawing serves light and dark. Text in a drawing is set as text by the
 * document, cut short, and made visible first.
 *
 * Drawings must be the same bytes for the same data, so nothing here may use what Plot numbers by a counter of the
 * process: clipping, markers, patterns. Values beyond a frame are put on its edge instead of being clipped.
 */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { Verdict } from '../experiment/record.ts'
import {
  type BestByRun,
  type ForecastPair,
  gainFrame,
  type Interval,
  isOutside,
  type MeasuredRecord,
  within,
} from './gain-series.ts'
import { type Markup, markup } from './markup.ts'
import { durationText, gainText } from './numbers.ts'
import { singleLine } from './outside-text.ts'
import { candidateText, verdictText } from './result-table.ts'
import { integerTicks, niceTicks, signedTick } from './ticks.ts'
import { type Timeline, type TimeUse, timeUses } from './time-spent.ts'

/** Wide for a page, narrow for a telephone: both are drawn, and the style sheet shows one, so that letters keep their size. */
export type Size = 'wide' | 'narrow'

const verdicts: readonly Verdict[] = ['inconclusive', 'worse', 'better']
/** A triangle that points down, which Plot has not. */
const triangleDown = {
  draw(
    context: { moveTo(x: number, y: number): void; lineTo(x: number, y: number): void; closePath(): void },
    size: number,
  ) {
    const half = Math.sqrt(size) * 0.75
    context.moveTo(-half, -half * 0.8)
    context.lineTo(half, -half * 0.8)
    context.lineTo(0, half)
    context.closePath()
  },
}
const symbols = { better: 'circle', worse: triangleDown, inconclusive: 'circle', failed: 'times' } as const
const colour = (name: string) => `var(--${name})`

/** The same verdicts, as a key beside the drawing needs them. */
export const verdictKey: readonly Verdict[] = ['better', 'inconclusive', 'worse', 'failed']

/** Whether intervals are drawn: over many points they would be a thicket. */
export function withBars(points: number): boolean {
  return points <= 120
}

/** How many gains lie so far out that the drawing puts them on its edge. */
export function outsideFrame(points: readonly MeasuredRecord[], frame: Interval): number {
  return points.filter(({ gain }) => isOutside(gain, frame)).length
}

export function bestByRunFrame({ points }: BestByRun): Interval {
  return gainFrame(
    points.map(({ gain }) => gain),
    points.flatMap(({ interval }) => interval ?? []),
  )
}

/** Best gain so far after each run; points are records with 95 % intervals, crosses at the bottom are failures. */
export function drawBestByRun(series: BestByRun, gainLabel: string, size: Size): Markup {
  const wide = size === 'wide'
  const { low, high } = bestByRunFrame(series)
  const band = series.failures.length > 0 ? 0.1 * (high - low) : 0
  const frame = { low, high }
  const whiskers = withBars(series.points.length)
  const lines = series.segments.flatMap(({ versionId, steps }, index) => {
    const end = series.segments[index + 1]?.firstRun ?? series.lastRun
    return [...steps, { run: end, best: steps.at(-1)!.best }].map(({ run, best }) => ({
      versionId,
      run,
      best: within(best, frame),
    }))
  })
  return draw(
    {
      width: wide ? 1056 : 350,
      height: wide ? 350 : 280,
      marginLeft: 58,
      marginRight: 12,
      marginTop: 30,
      marginBottom: 42,
      x: {
        domain: [0, Math.max(1, series.lastRun)],
        label: 'runs of candidates',
        ticks: integerTicks(series.lastRun, wide ? 14 : 5),
        tickFormat: 'd',
      },
      y: {
        domain: [low - band, high],
        label: gainLabel,
        grid: true,
        // Ticks of our own, none in the band of failures: a failure is at no gain.
        ticks: niceTicks(frame, wide ? 6 : 5),
        tickFormat: signedTick,
      },
    },
    [
      Plot.ruleY([0], { stroke: colour('ink'), strokeOpacity: 0.55 }),
      Plot.ruleX(
        series.segments.slice(1).map(({ firstRun }) => firstRun),
        { stroke: colour('ink'), strokeDasharray: '2,3', strokeOpacity: 0.7 },
      ),
      Plot.text(series.segments.slice(1), {
        x: 'firstRun',
        frameAnchor: 'top',
        text: () => 'new reference',
        textAnchor: 'start',
        dx: 4,
        dy: -12,
        fill: colour('soft'),
      }),
      whiskers
        ? whiskersY(
            series.points.map(point => ({ ...point, x: point.run })),
            frame,
          )
        : null,
      Plot.line(lines, {
        x: 'run',
        y: 'best',
        z: 'versionId',
        curve: 'step-after',
        stroke: colour('ink'),
        strokeWidth: 1.75,
      }),
      ...gainPoints(
        series.points.map(point => ({ ...point, x: point.run })),
        frame,
      ),
      Plot.text(series.failures.slice(0, 1), {
        frameAnchor: 'left',
        y: () => low - band / 2,
        text: () => 'failed',
        textAnchor: 'end',
        dx: -9,
      }),
      Plot.dot(series.failures, {
        x: 'run',
        y: () => low - band / 2,
        symbol: symbols.failed,
        r: 4,
        stroke: colour('failed'),
        strokeWidth: 1.5,
        title: ({ record }: BestByRun['failures'][number]) => `${short(candidateText(record))}\n${verdictText(record)}`,
      }),
    ],
  )
}

export function forecastFrame(pairs: readonly ForecastPair[]): Interval {
  return gainFrame(
    pairs.flatMap(({ gain, forecast }) => [gain, forecast.quantiles[2]]),
    pairs.flatMap(({ interval, forecast: { quantiles } }) =>
      [interval ?? [], { low: quantiles[0], high: quantiles[4] }].flat(),
    ),
  )
}

/** Forecast medians (bars: 80 % intervals) against measured gains (bars: 95 % intervals), on one scale, with the line where they are equal. */
export function drawForecasts(pairs: readonly ForecastPair[], unitLabel: string, size: Size): Markup {
  const side = size === 'wide' ? 500 : 350
  const frame = forecastFrame(pairs)
  const placed = pairs.map(pair => ({ ...pair, x: within(pair.forecast.quantiles[2], frame) }))
  const domain = [frame.low, frame.high]
  const bars = withBars(pairs.length)
  return draw(
    {
      width: side,
      height: side - 16,
      marginLeft: 58,
      marginRight: 14,
      marginTop: 30,
      marginBottom: 42,
      x: { domain, label: `forecast ${unitLabel}`, ticks: size === 'wide' ? 5 : 3, tickFormat: signedTick, grid: true },
      y: { domain, label: `measured ${unitLabel}`, ticks: 5, tickFormat: signedTick, grid: true },
    },
    [
      Plot.link([frame], {
        x1: 'low',
        y1: 'low',
        x2: 'high',
        y2: 'high',
        stroke: colour('ink'),
        strokeOpacity: 0.6,
        strokeDasharray: '5,4',
      }),
      bars
        ? Plot.ruleY(placed, {
            y: ({ gain }: ForecastPair) => within(gain, frame),
            x1: ({ forecast }: ForecastPair) => within(forecast.quantiles[0], frame),
            x2: ({ forecast }: ForecastPair) => within(forecast.quantiles[4], frame),
            stroke: ({ record }: ForecastPair) => colour(record.verdict ?? 'soft'),
            strokeWidth: 3,
            strokeOpacity: 0.28,
            strokeLinecap: 'butt',
          })
        : null,
      bars ? whiskersY(placed, frame) : null,
      ...gainPoints(placed, frame),
    ],
  )
}

/** Every run as a bar in its lane; dotted lines where an idle stretch was cut. */
export function drawTimeline({ placed, lanes, seconds, cuts }: Timeline, size: Size): Markup {
  const unit =
    seconds < 180
      ? { name: 'seconds', seconds: 1 }
      : seconds < 3 * 3600
        ? { name: 'minutes', seconds: 60 }
        : { name: 'hours', seconds: 3600 }
  const names = Array.from({ length: lanes }, (_, lane) => String(lane))
  return draw(
    {
      width: size === 'wide' ? 1056 : 350,
      height: 24 * lanes + 52,
      marginLeft: 40,
      marginRight: 12,
      marginTop: 12,
      marginBottom: 40,
      x: { domain: [0, Math.max(seconds, 1e-3) / unit.seconds], label: unit.name, ticks: size === 'wide' ? 10 : 5 },
      y: { type: 'band', domain: names, label: null, padding: 0.22, tickSize: 0 },
    },
    [
      ...timeUses.map(use => {
        const own = placed.filter(run => run.use === use)
        return Plot.barX(own, {
          x1: run => run.start / unit.seconds,
          x2: run => run.finish / unit.seconds,
          y: run => String(run.lane),
          fill: timeColour(use),
          // A hairline of paper keeps neighbours apart.
          stroke: colour('paper'),
          strokeWidth: placed.length > 400 ? 0 : 0.75,
          title: ({ run, start, finish }) =>
            `run ${run.runId}: ${run.outcome ?? 'running'}, ${durationText(finish - start)}`,
        })
      }),
      Plot.ruleX(cuts, {
        x: ({ at }: Timeline['cuts'][number]) => at / unit.seconds,
        stroke: colour('ink'),
        strokeDasharray: '2,3',
      }),
    ],
  )
}

export function timeColour(use: TimeUse): string {
  return colour(`time-${use}`)
}

type PlacedGain = MeasuredRecord & { readonly x: number }

function whiskersY(points: readonly PlacedGain[], frame: Interval) {
  return Plot.ruleX(
    points.filter(({ interval, gain }) => interval !== null && !isOutside(gain, frame)),
    {
      x: 'x',
      y1: ({ interval }: PlacedGain) => within(interval!.low, frame),
      y2: ({ interval }: PlacedGain) => within(interval!.high, frame),
      stroke: ({ record }: PlacedGain) => colour(record.verdict ?? 'soft'),
      strokeOpacity: 0.45,
      strokeWidth: 1.25,
    },
  )
}

/** One mark a verdict, told apart by shape as well as by colour; what lies outside the frame is an arrow at its edge. */
function gainPoints(points: readonly PlacedGain[], frame: Interval) {
  const inside = points.filter(({ gain }) => !isOutside(gain, frame))
  const outside = points.filter(({ gain }) => isOutside(gain, frame))
  // A title of a few words for each of many thousands of points would be most of the file.
  const titled = points.length <= 1000
  const title = ({ record }: PlacedGain) => short(candidateText(record))
  const describe = (point: PlacedGain) =>
    `${title(point)}\n${gainText(point.record.measured)}, ${verdictText(point.record)}`
  return [
    ...verdicts.map(verdict =>
      Plot.dot(
        inside.filter(({ record }) => (record.verdict ?? 'inconclusive') === verdict),
        {
          x: 'x',
          y: 'gain',
          r: withBars(points.length) ? 4 : 3,
          symbol: symbols[verdict],
          fill: verdict === 'inconclusive' ? colour('paper') : colour(verdict),
          stroke: colour(verdict),
          strokeWidth: 1.5,
          ...(titled ? { title: describe } : {}),
        },
      ),
    ),
    Plot.text(outside, {
      x: 'x',
      y: ({ gain }: PlacedGain) => within(gain, frame),
      text: ({ gain }: PlacedGain) => (gain < frame.low ? '↓' : '↑'),
      lineAnchor: 'middle',
      dy: 0,
      fill: ({ record }: PlacedGain) => colour(record.verdict ?? 'soft'),
      fontWeight: 700,
      fontSize: 14,
      title: describe,
    }),
  ]
}

function draw(options: Record<string, unknown>, marks: readonly unknown[]): Markup {
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const figure = Plot.plot({
    document: document as never,
    className: 'plot',
    style: { overflow: 'visible' },
    ...options,
    marks: marks.filter(mark => mark !== null) as never,
  })
  figure.querySelector('style')?.remove()
  figure.setAttribute('role', 'presentation')
  return markup(figure.toString())
}

function short(text: string): string {
  const line = singleLine(text)
  return line.length <= 120 ? line : `${line.slice(0, 119).toWellFormed()}…`
}
