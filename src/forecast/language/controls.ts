/**
 * Two controls that show whether a forecaster reads the records or remembers the world: histories whose outcomes were dealt
 * out anew, and problems whose options bear other names. Who learns from the records loses its skill with the first and
 * keeps it with the second; who was trained on the log, or on what is known of these options, does the opposite.
 */
import type { Environment } from '../../experiment/environment.ts'
import { isJsonObject, type Json } from '../../experiment/json.ts'
import type { Candidate, ExperimentRecord } from '../../experiment/record.ts'
import { type Random, seededRandom } from '../../statistics/random.ts'
import { words } from '../../text/words.ts'
import type { Forecaster } from '../forecaster.ts'

/**
 * The same records with what happened (runs, outcome, gain, verdict) dealt out anew among those of one version: the gains
 * stay as they were, and say nothing of the interventions any more.
 */
export function shuffledOutcomes(records: readonly ExperimentRecord[], random: Random): ExperimentRecord[] {
  const result = [...records]
  for (const members of Map.groupBy(records.keys(), index => records[index]!.environment.version.id).values()) {
    const dealt = random.shuffle(members)
    members.forEach((index, place) => {
      const { runs, outcome, measured, verdict } = records[dealt[place]!]!
      result[index] = { ...records[index]!, runs, outcome, measured, verdict }
    })
  }
  return result
}

/** Longer strings are texts, not names. */
const longestName = 60

export interface Control {
  /** What is behind the name of a forecaster under it. */
  readonly name: string
  /** Whether anything of the problem is other under it: where nothing is, it says nothing. */
  changes(problem: Problem): boolean
  of(problem: Problem, seed: number): Problem
}

/** Both, in the order in which they are told. */
export const controls: readonly Control[] = [
  {
    name: 'shuffled',
    changes: ({ history }) =>
      [...Map.groupBy(history, ({ environment }) => environment.version.id).values()].some(
        same => new Set(same.map(({ measured, outcome }) => `${measured?.gain} ${outcome}`)).size > 1,
      ),
    of: ({ environment, history, candidates }, seed) => ({
      environment,
      history: shuffledOutcomes(history, seededRandom(`${seed}/shuffled outcomes`)),
      candidates,
    }),
  },
  {
    name: 'renamed',
    // Another name for the environment alone is no other problem.
    changes: ({ environment, history, candidates }) =>
      [...namesIn(environment, history, candidates)].some(
        ([name, kind]) => kind !== 'environment' && name.length <= longestName,
      ),
    of: ({ environment, history, candidates }, seed) => renamedProblem(environment, history, candidates, seed),
  },
]

/** The same forecaster, asked under a control. */
export function withControl<Answer>(forecaster: Forecaster<Answer>, control: Control): Forecaster<Answer> {
  return (environment, history, candidates, options) => {
    const other = control.of({ environment, history, candidates }, options.seed)
    return forecaster(other.environment, other.history, other.candidates, options)
  }
}

/** What a forecaster is asked. */
export interface Problem {
  readonly environment: Environment
  readonly history: readonly ExperimentRecord[]
  readonly candidates: readonly Candidate[]
}

/**
 * One new name for each name wherever it stands, in sentences and diffs too and however it is spelled there. Numbers, ids
 * and what is left of the sentences stay; so does what a sentence says in words that are no name.
 */
export function renamedProblem(
  environment: Environment,
  history: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
  seed: number,
): Problem {
  const names = namesIn(environment, history, candidates)
  const rename = renaming(names, seededRandom(`${seed}/renamed options`))
  const environments = new Map<Environment, Environment>()
  const renameEnvironment = (each: Environment): Environment => {
    const known = environments.get(each)
    if (known) return known
    const { family, version } = each
    const { configuration, label, ...reference } = version.reference
    const renamed: Environment = {
      ...each,
      family: { ...family, name: rename.text(family.name), description: rename.text(family.description) },
      version: {
        ...version,
        reference: {
          ...reference,
          configuration: rename.json(configuration),
          ...(label === undefined ? {} : { label: rename.text(label) }),
        },
      },
    }
    environments.set(each, renamed)
    return renamed
  }
  const renameCandidate = <T extends Candidate>({ intervention, changes, ...rest }: T) => ({
    ...rest,
    intervention: {
      ...intervention,
      sentence: rename.text(intervention.sentence),
      diff: intervention.diff === null ? null : rename.text(intervention.diff),
      tags: intervention.tags.map(rename.text),
      overrides:
        intervention.overrides === null ? null : (rename.json(intervention.overrides) as typeof intervention.overrides),
      origin: null,
    },
    changes: changes.map(({ option, from, to }) => ({
      option: rename.text(option),
      from: from === undefined ? undefined : rename.json(from),
      to: to === undefined ? undefined : rename.json(to),
    })),
  })
  return {
    environment: renameEnvironment(environment),
    history: history.map(record => ({
      ...renameCandidate(record),
      environment: renameEnvironment(record.environment),
    })),
    candidates: candidates.map(renameCandidate),
  }
}

type Kind = 'environment' | 'option' | 'value'

/** Names by their words, without case and separators. */
function namesIn(
  environment: Environment,
  history: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
): Map<string, Kind> {
  const names = new Map<string, Kind>()
  const add = (name: string, kind: Kind) => {
    const key = keyOf(name)
    // Words of one or two letters are words of the sentences too.
    if (/\p{L}{3}/u.test(key) && !names.has(key)) names.set(key, kind)
  }
  const addJson = (value: Json | undefined): void => {
    if (typeof value === 'string') add(value, 'value')
    else if (Array.isArray(value)) for (const each of value) addJson(each)
    else if (isJsonObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        add(key, 'option')
        addJson(each)
      }
    }
  }
  for (const each of new Set([environment, ...history.map(record => record.environment)])) {
    add(each.family.name, 'environment')
    addJson(each.version.reference.configuration)
  }
  for (const { changes, intervention } of [...history, ...candidates]) {
    for (const { option, from, to } of changes) {
      for (const part of option.slice(option.lastIndexOf(':') + 1).split('.')) add(part.replace(/#\d+$/, ''), 'option')
      addJson(from)
      addJson(to)
    }
    addJson(intervention.overrides ?? undefined)
  }
  return names
}

function keyOf(name: string): string {
  return words(name).join('')
}

function renaming(names: ReadonlyMap<string, Kind>, random: Random) {
  const short = [...names].filter(([name]) => name.length <= longestName)
  const numbers = random.shuffle([...short.keys()])
  const newNames = new Map(short.map(([name, kind], index) => [name, `${kind}${numbers[index]! + 1}`]))
  // Letters of one name may be apart in another spelling: learningRate, learning_rate, "learning rate".
  const spelled = [...newNames.keys()]
    .sort((first, second) => second.length - first.length)
    .map(name => [...name].map(character => (character === '.' ? '\\.' : character)).join('[-_ ]?'))
  const pattern =
    spelled.length === 0 ? null : new RegExp(`(?<![\\p{L}\\p{N}])(?:${spelled.join('|')})(?![\\p{L}\\p{N}])`, 'giu')
  const text = (given: string): string =>
    pattern === null ? given : given.replace(pattern, found => newNames.get(keyOf(found)) ?? found)
  const json = (value: Json): Json => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(json)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), json(each)]))
  }
  return { text, json }
}
