/**
 * AIDE's journal (`journal.json`): a tree of programs, each drafted, improved or repaired by a language model and then run. The plan
 * is what was to be tried; the analysis was written after the run. A model judges the metric and its direction anew for every
 * program, so the direction is what most say, and a program that says otherwise measured something else.
 */
import { readFileSync } from 'node:fs'
import type { Direction } from '../experiment/environment.ts'
import { type AideMetric, aideMetric } from './aide-metric.ts'
import type { UnusableRow } from './history.ts'
import type { Importer, Source } from './importer.ts'
import { momentOfSeconds } from './moment.ts'
import { type Program, programChange } from './program-tree.ts'
import { parsePythonJson } from './python-json.ts'
import { beginningOf } from './source.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { unusableRow } from './unusable-row.ts'

export const aideJournal: Importer = {
  name: 'aide',
  title: 'AIDE (journal.json)',
  takes: ['reference'],
  recognises: source => /^\s*\{\s*"nodes":\s*\[/.test(beginningOf(source)) && source.name.endsWith('.json'),
  read: async (source, options) => trackedHistories([readAideJournal(source)], source.name, options),
}

interface Node {
  readonly id: string
  /** Why it cannot be used; null as a rule. */
  readonly damage: string | null
  readonly step?: number | null
  readonly code?: string | null
  readonly plan?: string | null
  readonly analysis?: string | null
  /** Seconds since 1970, when its code was written. */
  readonly ctime?: number | null
  readonly exec_time?: number | null
  readonly exc_type?: string | null
  readonly is_buggy?: boolean | null
  readonly metric?: unknown
}

/** Throws a sentence where the file is no journal. */
export function readAideJournal(source: Source): TrackedExperiment {
  const { nodes, parents } = journalIn(source)
  const measured = nodes.map(node => (node.is_buggy === false && node.damage === null ? aideMetric(node.metric) : null))
  const name = mostFrequent(measured.flatMap(metric => metric?.name ?? [])) ?? 'metric'
  const direction = mostFrequent(measured.flatMap(metric => metric?.direction ?? []))
  const contrary = (metric: AideMetric) => metric.name !== name || (metric.direction ?? direction) !== direction
  const works = (index: number) => {
    const metric = measured[index]
    return metric != null && Number.isFinite(metric.value) && !contrary(metric)
  }
  const programs = new Map(
    nodes.map((node, index) => [node.id, programOf(node, parents.get(node.id) ?? null, works(index))]),
  )
  const runs: TrackedRun[] = []
  const unusable: UnusableRow[] = []
  nodes.forEach((node, index) => {
    const metric = measured[index] ?? null
    const change = programChange(programs.get(node.id)!, programs, 'solution.py')
    const reason = whyUnusable(node, metric !== null && contrary(metric) ? metric : null, change, { name, direction })
    if (reason === null) runs.push(runOf(node, metric, change!, stageOf(node, parents, programs)))
    else unusable.push(unusableRow(placeOf(node), reason, node.plan ?? node.code ?? ''))
  })
  const others = unusable.filter(({ reason }) => reason.startsWith('measured')).length
  return {
    name: null,
    description: null,
    objective: { name, direction },
    constraints: [],
    runs,
    unusable,
    guesses: others === 0 ? [] : [`the metric is ${name}, ${direction}: most programs say so, ${others} do not`],
  }
}

function journalIn(source: Source): { nodes: readonly Node[]; parents: ReadonlyMap<string, string> } {
  if (source.kind !== 'file') throw new Error(`${source.name} is not a file; name the journal.json of AIDE`)
  let journal: { nodes?: unknown; node2parent?: Readonly<Record<string, string>> } | null
  try {
    journal = parsePythonJson(readFileSync(source.path, 'utf8')) as typeof journal
  } catch (cause) {
    throw new Error(`${source.name} is not JSON as a whole: ${(cause as Error).message}`, { cause })
  }
  const found: unknown = journal?.nodes
  if (!Array.isArray(found) || (found.length > 0 && !found.some(isNamed))) {
    throw new Error(`${source.name} is not a journal of AIDE: its "nodes" is not a list of nodes with an "id"`)
  }
  const nodes = found.map(nodeOf)
  // The first version wrote the parent's id into the node.
  const own = found
    .filter(isNamed)
    .flatMap(({ id, parent }) => (typeof parent === 'string' ? [[id, parent] as const] : []))
  return { nodes, parents: new Map([...own, ...Object.entries(journal?.node2parent ?? {})]) }
}

function isNamed(node: unknown): node is { readonly id: string; readonly parent?: unknown } {
  return typeof (node as { readonly id?: unknown } | null)?.id === 'string'
}

/** What its fields are, where AIDE writes anything at all into them. */
const kinds = {
  step: 'number',
  code: 'string',
  plan: 'string',
  analysis: 'string',
  ctime: 'number',
  exec_time: 'number',
  exc_type: 'string',
  is_buggy: 'boolean',
} as const

/** A field of another kind is left out, and said. */
function nodeOf(found: unknown, index: number): Node {
  if (!isNamed(found)) return { id: `#${index + 1}`, damage: 'has no "id"' }
  const odd = (Object.keys(kinds) as (keyof typeof kinds)[]).filter(field => {
    const value = (found as Partial<Node>)[field]
    return value !== undefined && value !== null && typeof value !== kinds[field]
  })
  if (odd.length === 0) return { ...found, damage: null }
  const damage = `its ${odd.map(field => `"${field}" is no ${kinds[field]}`).join(', its ')}`
  return { ...found, ...Object.fromEntries(odd.map(field => [field, null])), damage }
}

function programOf({ id, code, plan }: Node, parent: string | null, works: boolean): Program {
  return { id, parent, code: code ?? '', text: plan ?? null, works, copyOf: null }
}

function whyUnusable(
  node: Node,
  contrary: AideMetric | null,
  change: ReturnType<typeof programChange>,
  objective: { readonly name: string; readonly direction: Direction | null },
): string | null {
  if (node.damage !== null) return node.damage
  if (typeof node.is_buggy !== 'boolean') return 'was not run'
  if (change === null) return 'the program it was made from is not in the journal'
  if (change.diff === '') return 'has the same code as the program it was made from'
  if (contrary === null) return null
  return `measured ${contrary.name} (${contrary.direction ?? 'no direction'}), and the others ${objective.name} (${objective.direction})`
}

function stageOf(node: Node, parents: ReadonlyMap<string, string>, programs: ReadonlyMap<string, Program>): string {
  const parent = parents.get(node.id)
  if (parent === undefined) return 'draft'
  return programs.get(parent)?.works ? 'improve' : 'debug'
}

function runOf(
  node: Node,
  metric: AideMetric | null,
  change: NonNullable<ReturnType<typeof programChange>>,
  stage: string,
): TrackedRun {
  const { kind, reason } = endOf(node, metric)
  return {
    id: node.id,
    name: null,
    place: placeOf(node),
    configuration: {},
    seed: null,
    kind,
    status: node.is_buggy ? 'buggy' : 'good',
    reason,
    metrics: kind === 'finished' ? { [metric!.name]: metric!.value } : {},
    startedAt: momentOfSeconds(node.ctime),
    finishedAt: null,
    seconds: node.exec_time ?? null,
    text: change.text,
    note: node.analysis?.trim() || null,
    tags: [stage],
    isBaseline: false,
    parent: change.parent,
    diff: change.diff,
    commit: null,
  }
}

function endOf({ exc_type, is_buggy }: Node, metric: AideMetric | null): Pick<TrackedRun, 'kind' | 'reason'> {
  if (exc_type === 'TimeoutError') return { kind: 'timed-out', reason: 'took longer than it may' }
  if (exc_type) return { kind: 'crashed', reason: `raised ${exc_type}` }
  if (is_buggy || metric === null) return { kind: 'crashed', reason: 'AIDE calls it buggy: it has no valid metric' }
  if (!Number.isFinite(metric.value)) return { kind: 'diverged', reason: `${metric.name} is ${metric.value}` }
  return { kind: 'finished', reason: null }
}

function placeOf({ step, id }: Node): string {
  return typeof step === 'number' ? `node ${step}` : `node ${id.slice(0, 8)}`
}

/** The first of those that stand most often; null of none. */
function mostFrequent<Value>(values: readonly Value[]): Value | null {
  const counts = new Map<Value, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].reduce<[Value | null, number]>((most, each) => (each[1] > most[1] ? each : most), [null, 0])[0]
}
