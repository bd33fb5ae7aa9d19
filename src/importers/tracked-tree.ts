/**
 * Runs that were made from runs: their order and who has descendants. Names of parents come from outside, so circles and parents that
 * are not there are expected.
 */
import type { TrackedRun } from './tracked-experiment.ts'

interface InTree {
  readonly run: TrackedRun
}

export interface RunTree<Each extends InTree> {
  /** The reference first, then in order of time, but a parent always before its children. */
  readonly ordered: readonly Each[]
  /** Null for a root, and where the parent is not among the runs or is a descendant. */
  parentOf(each: Each): Each | null
  hasChildren(each: Each): boolean
  /** Whether any run has a parent. */
  readonly isTree: boolean
}

export function runTree<Each extends InTree>(runs: readonly Each[], reference: Each | null): RunTree<Each> {
  const byId = new Map(runs.map(each => [each.run.id, each]))
  const ordered: Each[] = []
  const parents = new Map<Each, Each>()
  const state = new Map<Each, 'waiting' | 'placed'>()
  for (const start of reference === null ? runs : [reference, ...runs]) {
    // A stack of its own, not recursion: a chain of improvements may be ten thousand long.
    const waiting: Each[] = []
    for (let each: Each | undefined = start; each !== undefined && !state.has(each); ) {
      waiting.push(each)
      state.set(each, 'waiting')
      const parent: Each | undefined = each.run.parent === null ? undefined : byId.get(each.run.parent)
      if (parent !== undefined && state.get(parent) !== 'waiting') parents.set(each, parent)
      each = parent
    }
    for (const each of waiting.reverse()) {
      state.set(each, 'placed')
      ordered.push(each)
    }
  }
  const withChildren = new Set(parents.values())
  return {
    ordered,
    parentOf: each => parents.get(each) ?? null,
    hasChildren: each => withChildren.has(each),
    isTree: parents.size > 0,
  }
}
