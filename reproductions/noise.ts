/**
 * How far noise that is pooled over a version may be trusted, by simulation: a reference, and candidates of two seeds, of which some may be
 * wild (their variance ten to a thousand times that of the others, evenly on a logarithmic scale), or all may be noisier the further they
 * are from the reference. Beside the rule in use (`src/experiment/gain.ts`) stand some that could have been taken in its place.
 *
 *     node reproductions/noise.ts [--repetitions 8000] [--seed 1]
 *
 * Prints a Markdown table. Each cell is of the first candidate, which is never wild, in percent: how often it is called better although it
 * gains nothing (as often it is called worse; nominal 5), how often the 95 % interval holds its gain, how often a gain of three standard
 * deviations of one run is called better (and such a loss worse); then, where one is wild, how often that one is called better for nothing.
 */
import { Command } from 'commander'
import { measureGain, pooledNoise, varianceOfMedian } from '../src/experiment/gain.ts'
import { varianceRatioTail } from '../src/experiment/variance-ratio.ts'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { type Random, seededRandom } from '../src/statistics/random.ts'
import { studentCdf } from '../src/statistics/student.ts'
import { median, variance } from '../src/statistics/summary.ts'

const flags = new Command('node reproductions/noise.ts')
  .description('How far pooled noise may be trusted, by simulation: prints a Markdown table.')
  .option('--repetitions <number>', 'of each version', wholeNumberFrom(1), 8000)
  .option('--seed <number>', 'of all that is drawn', wholeNumberFrom(0), 1)
  .parse()
  .opts<{ repetitions: number; seed: number }>()

interface Noise {
  readonly variance: number
  readonly degreesOfFreedom: number
}

interface Rule {
  readonly name: string
  /** What would come up less often than this is taken to be noisier. */
  readonly incompatible: number
  /** From four degrees of freedom on, candidates are held against the reference's own noise. */
  readonly byReference?: true
  /** Of up to six candidates the median estimate is the noise, worth half of their degrees of freedom. */
  readonly medianOfFew?: true
}

const inUse: Rule = { name: 'P < 0.005 (in use)', incompatible: 0.005 }
const rules: readonly Rule[] = [
  { name: 'P < 0.001 (before)', incompatible: 0.001 },
  inUse,
  { name: 'P < 0.01', incompatible: 0.01 },
  { name: 'P < 0.001 beside the reference', incompatible: 0.001, byReference: true },
  { name: 'median of few', incompatible: 0.001, medianOfFew: true },
]

interface Version {
  readonly name: string
  readonly candidates: readonly number[]
  /** Standard deviation of a candidate after the first. */
  deviation(index: number, random: Random): number
}

const versions: readonly Version[] = [
  { name: 'all alike', candidates: [1, 2, 3, 5, 10, 30], deviation: () => 1 },
  { name: 'one wild', candidates: [2, 3, 5, 10, 30], deviation: (index, random) => (index === 1 ? wild(random) : 1) },
  { name: '5 % wild', candidates: [3, 10, 30], deviation: (_, random) => (random.uniform() < 0.05 ? wild(random) : 1) },
  { name: '20 % wild', candidates: [3, 10, 30], deviation: (_, random) => (random.uniform() < 0.2 ? wild(random) : 1) },
  {
    name: 'noisier further off',
    candidates: [3, 10, 30],
    deviation: (_, random) => 1 + 0.3 * Math.abs(3 * random.normal()),
  },
]

console.log(
  `${flags.repetitions.toLocaleString('en')} versions a line; called better for nothing / interval holds / three deviations found ` +
    `(the wild one called better for nothing), %\n`,
)
console.log(`| noise | reference seeds | candidates | ${rules.map(({ name }) => name).join(' | ')} |`)
console.log(`|---|---|---|${'---|'.repeat(rules.length)}`)
for (const version of versions) {
  for (const seeds of [1, 2, 5]) {
    for (const count of version.candidates) {
      // Nothing was measured twice but a candidate or two: there is no noise worth the name.
      if (seeds === 1 && count < 3) continue
      const cells = simulated(version, seeds, count).map(cellText)
      console.log(`| ${version.name} | ${seeds} | ${count} | ${cells.join(' | ')} |`)
    }
  }
}

interface Rates {
  readonly forNothing: number
  readonly holds: number
  readonly found: number
  readonly wildForNothing: number | null
}

function simulated(version: Version, seeds: number, count: number): Rates[] {
  const random = seededRandom(flags.seed).fork(version.name).fork(seeds).fork(count)
  const draw = (values: number, deviation: number) => Array.from({ length: values }, () => deviation * random.normal())
  const sums = rules.map(() => ({ forNothing: 0, holds: 0, found: 0, wildForNothing: 0 }))
  for (let repetition = 0; repetition < flags.repetitions; repetition++) {
    const reference = draw(seeds, 1)
    const candidates = Array.from({ length: count }, (_, index) =>
      draw(2, index === 0 ? 1 : version.deviation(index, random)),
    )
    const [first, second] = candidates as [number[], number[] | undefined]
    for (const [index, rule] of rules.entries()) {
      const noise = noiseBy(rule, reference, candidates)
      const chance = chanceBetter(rule, noise, first, reference)
      if (rule === inUse && repetition < 20) refuseOther(chance, first, reference, candidates)
      const sum = sums[index]!
      // Better and worse are alike: both are counted, for half as much chance in the rates.
      sum.forNothing += (isSure(chance) + isSure(1 - chance)) / 2
      sum.holds += chance > 0.025 && chance < 0.975 ? 1 : 0
      const up = first.map(value => value + 3)
      const down = first.map(value => value - 3)
      sum.found += isSure(chanceBetter(rule, noise, up, reference)) / 2
      sum.found += isSure(1 - chanceBetter(rule, noise, down, reference)) / 2
      if (second === undefined) continue
      const ofSecond = chanceBetter(rule, noise, second, reference)
      sum.wildForNothing += (isSure(ofSecond) + isSure(1 - ofSecond)) / 2
    }
  }
  const share = (sum: number) => sum / flags.repetitions
  return sums.map(({ forNothing, holds, found, wildForNothing }) => ({
    forNothing: share(forNothing),
    holds: share(holds),
    found: share(found),
    wildForNothing: version.name === 'one wild' ? share(wildForNothing) : null,
  }))
}

function wild(random: Random): number {
  return Math.sqrt(10 ** (1 + 2 * random.uniform()))
}

function isSure(chance: number): number {
  return chance >= 0.95 ? 1 : 0
}

function noiseBy(rule: Rule, reference: readonly number[], candidates: readonly (readonly number[])[]): Noise {
  const own = reference.length > 1 ? within(reference) : { variance: 0, degreesOfFreedom: 0 }
  const groups = candidates.map(within)
  const all = own.degreesOfFreedom > 0 ? [own, ...groups] : groups
  const robust = {
    variance: typicalVariance(all),
    degreesOfFreedom: Math.max(1, Math.floor((own.degreesOfFreedom + groups.length) / 2)),
  }
  const standard = rule.byReference && own.degreesOfFreedom >= 4 ? own : robust
  const compatible = groups.filter(group => !isNoisier(group, standard, rule.incompatible))
  const pool =
    rule.medianOfFew && groups.length <= 6
      ? { variance: robust.variance, degreesOfFreedom: Math.floor(groups.length / 2) }
      : {
          variance: compatible.reduce((sum, group) => sum + group.variance, 0) / Math.max(1, compatible.length),
          degreesOfFreedom: compatible.length,
        }
  const weight = Math.min(pool.degreesOfFreedom, 4 * own.degreesOfFreedom + 8)
  const degreesOfFreedom = own.degreesOfFreedom + weight
  return {
    variance: (own.degreesOfFreedom * own.variance + weight * pool.variance) / degreesOfFreedom,
    degreesOfFreedom,
  }
}

/** P(gain > 0), as `measureGain` has it. */
function chanceBetter(
  { incompatible }: Rule,
  noise: Noise,
  candidate: readonly number[],
  reference: readonly number[],
): number {
  const own = within(candidate)
  const pooled = !isNoisier(own, noise, incompatible)
  const one = (pooled ? noise : own).variance * varianceOfMedian(candidate.length)
  const other = noise.variance * varianceOfMedian(reference.length)
  const share = one / (one + other)
  const degreesOfFreedom = pooled
    ? noise.degreesOfFreedom
    : 1 / (share ** 2 / own.degreesOfFreedom + (1 - share) ** 2 / noise.degreesOfFreedom)
  return studentCdf((median(candidate) - median(reference)) / Math.sqrt(one + other), degreesOfFreedom)
}

/** What is written out here so that it can be varied has to be what the program does. */
function refuseOther(
  chance: number,
  candidate: readonly number[],
  reference: readonly number[],
  candidates: readonly (readonly number[])[],
): void {
  const measured = measureGain(candidate, reference, 'maximize', pooledNoise(reference, candidates))
  const theirs = measured!.probabilityBetter!
  if (Math.abs(theirs - chance) > 1e-9) {
    throw new Error(`the rule in use here says ${chance}, and src/experiment/gain.ts ${theirs}: bring them together`)
  }
}

function within(values: readonly number[]): Noise {
  return { variance: variance(values), degreesOfFreedom: values.length - 1 }
}

function isNoisier(one: Noise, other: Noise, incompatible: number): boolean {
  if (one.variance <= other.variance) return false
  return varianceRatioTail(one.variance / other.variance, one.degreesOfFreedom, other.degreesOfFreedom) < incompatible
}

function typicalVariance(groups: readonly Noise[]): number {
  const medianOf = (degrees: number) => (degrees === 1 ? 0.454936 : (1 - 2 / (9 * degrees)) ** 3)
  const scaled = groups
    .map(({ variance, degreesOfFreedom }) => ({ value: variance / medianOf(degreesOfFreedom), degreesOfFreedom }))
    .sort((a, b) => a.value - b.value)
  const half = scaled.reduce((sum, { degreesOfFreedom }) => sum + degreesOfFreedom, 0) / 2
  let passed = 0
  return scaled.find(({ degreesOfFreedom }) => {
    passed += degreesOfFreedom
    return passed >= half
  })!.value
}

function cellText({ forNothing, holds, found, wildForNothing }: Rates): string {
  const percent = (share: number) => (100 * share).toFixed(1)
  const ofWild = wildForNothing === null ? '' : ` (${percent(wildForNothing)})`
  return `${percent(forNothing)} / ${percent(holds)} / ${percent(found)}${ofWild}`
}
