/**
 * How forecasters did on an environment's own past: at a few moments, the next records are forecast from the last that were known then. Only the
 * next few, as a forecaster is asked in use: further ahead those that learn look worse than they are. The moments are at fixed numbers of
 * records, so that a history that has grown asks the same again.
 */
import type { Environment } from '../experiment/environment.ts'
import type { Intervention } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { endingsOf } from './evidence.ts'
import type { PureForecaster } from './forecaster.ts'
import { byReference } from './judge-pool.ts'
import { isTestable } from './rolling-origin.ts'

const firstOrigin = 8
const growth = 1.3
const mostAhead = 8

/** The last ones: each costs a forecast by every forecaster, and what is long past says little. */
const mostOrigins = 8

/** The last ones before a moment: more cost time and hardly change who did well. */
export const mostKnown = 200

export interface PastForecast<Name extends string> {
  readonly record: ExperimentRecord
  readonly by: Readonly<Record<Name, Forecast>>
}

/** In time order. Each record is asked for against its own reference. */
export function pastForecasts<Name extends string>(
  members: Readonly<Record<Name, PureForecaster>>,
  { familyId }: Environment,
  history: readonly ExperimentRecord[],
  seed: number,
): PastForecast<Name>[] {
  const own = history
    .filter(record => record.environment.familyId === familyId && isTestable(record))
    .sort((first, second) => first.id - second.id)
  const past: PastForecast<Name>[] = []
  for (const { origin, next } of originsIn(own.length).slice(-mostOrigins)) {
    const known = own.slice(Math.max(0, origin - mostKnown), origin)
    const following = own.slice(origin, Math.min(next, origin + mostAhead))
    for (const { tested: same } of byReference(following)) {
      const answers = Object.entries<PureForecaster>(members).map(
        ([name, member]) => [name, remembered(name, member, known, same, seed)] as const,
      )
      same.forEach((record, index) => {
        const by = Object.fromEntries(answers.map(([name, forecasts]) => [name, forecasts[index]!]))
        past.push({ record, by: by as Record<Name, Forecast> })
      })
    }
  }
  return past.sort((first, second) => first.record.id - second.record.id)
}

function originsIn(count: number): { readonly origin: number; readonly next: number }[] {
  const origins: { readonly origin: number; readonly next: number }[] = []
  for (let origin = firstOrigin; origin < count; ) {
    const next = Math.max(origin + 4, Math.floor(origin * growth))
    origins.push({ origin, next })
    origin = next
  }
  return origins
}

/**
 * Forecasts are functions of their arguments, and some take a second: whoever asks again, as an evaluation does for each pool, gets what
 * was computed before. Kept by the candidate's intervention, as long as it is in use: the record of an idea is made anew as it is repeated.
 */
const memory = new WeakMap<Intervention, Map<string, Forecast>>()

/** All that a forecast can depend on: words, code and options by their number, what came of them in full. */
const keys = new WeakMap<ExperimentRecord, string>()
const numbers = new WeakMap<Intervention | Environment, number>()
let lastNumber = 0

function numberOf(value: Intervention | Environment): number {
  const known = numbers.get(value)
  if (known !== undefined) return known
  lastNumber += 1
  numbers.set(value, lastNumber)
  return lastNumber
}

function keyOf(record: ExperimentRecord): string {
  const known = keys.get(record)
  if (known !== undefined) return known
  const { id, environment, intervention, measured } = record
  const gain = measured === null ? null : [measured.gain, measured.standardError].map(String)
  const key = [id, numberOf(environment), numberOf(intervention), gain, endingsOf(record).map(Number).join('')].join(
    ':',
  )
  keys.set(record, key)
  return key
}

function remembered(
  name: string,
  member: PureForecaster,
  known: readonly ExperimentRecord[],
  tested: readonly ExperimentRecord[],
  seed: number,
): Forecast[] {
  const { environment } = tested[0]!
  const key = `${name} ${seed} ${numberOf(environment)} ${known.map(keyOf).join(' ')}`
  const missing = tested.filter(({ intervention }) => !memory.get(intervention)?.has(key))
  if (missing.length > 0) {
    const answers = member(environment, known, missing, { seed })
    missing.forEach(({ intervention }, index) => {
      const own = memory.get(intervention) ?? new Map<string, Forecast>()
      own.set(key, answers[index]!)
      memory.set(intervention, own)
    })
  }
  return tested.map(({ intervention }) => memory.get(intervention)!.get(key)!)
}
