/** The environment that an imported history becomes in a ledger when it is none of the user's own. */
import { type Constraint, type Direction, type Family, type Metric, objectiveOf } from '../experiment/environment.ts'
import { canonicalJson, type JsonObject } from '../experiment/json.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ImportedHistory } from './history.ts'

/** `source/name`, or the source alone where it holds one environment without a name. */
export function importedName({ source, name }: ImportedHistory): string {
  return name === null ? source : `${source}/${name}`
}

/**
 * Its family. One of that name that the ledger has, with the same objective and constraints, is it: a source that has grown may have
 * more metrics than before, and is the same environment. `direction` is the objective's, which the history need not know.
 */
export async function importedFamily(
  ledger: Ledger,
  history: ImportedHistory,
  direction: Direction,
  constraints: readonly Constraint[],
): Promise<Family> {
  const family = familyOf(history, direction, constraints)
  const known = await ledger.families(family.name)
  return known.findLast(({ family: each }) => isSame(each, family))?.family ?? family
}

function familyOf(history: ImportedHistory, direction: Direction, constraints: readonly Constraint[]): Family {
  const [objective, ...others] = history.metrics
  const known = others.flatMap(({ name, direction }): Metric[] => (direction === null ? [] : [{ name, direction }]))
  return {
    name: importedName(history),
    description: history.description ?? '',
    metrics: [{ name: objective.name, direction }, ...known.slice(0, 20)],
    constraints,
    command: null,
    budget: {},
    evaluator: {},
    data: [],
  }
}

function isSame(a: Family, b: Family): boolean {
  const identity = (family: Family) => {
    const { name, direction } = objectiveOf(family)
    return canonicalJson([name, direction, family.constraints.map(each => ({ ...each }) as JsonObject)])
  }
  return a.command === null && identity(a) === identity(b)
}
