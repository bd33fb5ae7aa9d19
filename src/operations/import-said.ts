/**
 * What is said of a source that was imported before, together with what was said of it then: one flag more must not take away the others,
 * least of all a rule that gamed rows broke.
 */
import { canonicalJson, type JsonObject } from '../experiment/json.ts'
import { asConstraint, columnIn, flagsFrom, isOfOneColumn, type SourceFlags, saidFlags } from './import-flags.ts'

export interface JoinedFlags {
  readonly flags: JsonObject
  /** What they were then: the readings that these go on with, or take the place of. */
  readonly before: readonly JsonObject[]
}

/**
 * The flags by which the source is read: once for each set of flags of before that is meant, with what is said now in place of what was
 * said then. Where nothing is said all are meant; else those with the name and of the environment that are said, or without a name.
 */
export function flagsWithBefore(said: JsonObject, before: readonly JsonObject[]): readonly JoinedFlags[] {
  if (Object.keys(said).length === 0) return before.map(flags => ({ flags, before: [flags] }))
  const { environment: wanted, as } = said
  const meant = before.filter(({ environment }) => wanted === undefined || [undefined, wanted].includes(environment))
  const named = meant.filter(each => each['as'] === as)
  const unnamed = meant.filter(each => each['as'] === undefined)
  const chosen = [named, unnamed, meant].find(each => each.length > 0) ?? []
  const joined = chosen.map(each => ({ flags: join(flagsFrom(each), flagsFrom(said)), before: each }))
  return [...Map.groupBy(joined, ({ flags }) => canonicalJson(flags)).values()].map(alike => ({
    flags: alike[0]!.flags,
    before: alike.map(({ before }) => before),
  }))
}

function join(then: SourceFlags, now: SourceFlags): JsonObject {
  const columns = (now.column ?? []).map(columnIn)
  const saysMetric = now.metric !== undefined || columns.some(({ role }) => role === 'metric')
  const column = [
    ...(then.column ?? []).filter(text => {
      const { name, role } = columnIn(text)
      if (role === 'metric' && saysMetric) return false
      return !columns.some(each => each.name === name || (each.role === role && isOfOneColumn(role)))
    }),
    ...(now.column ?? []),
  ]
  const rules = (now.constraint ?? []).map(asConstraint)
  const constraint = [
    ...(then.constraint ?? []).filter(text => {
      const { metric, atMost } = asConstraint(text)
      return !rules.some(rule => rule.metric === metric && (rule.atMost === undefined) === (atMost === undefined))
    }),
    ...(now.constraint ?? []),
  ]
  const metric = now.metric ?? (saysMetric ? undefined : then.metric)
  const direction = now.direction ?? (saysMetric ? undefined : then.direction)
  return saidFlags({
    ...then,
    ...saidFlags(now),
    metric,
    direction,
    column: column.length === 0 ? undefined : column,
    constraint: constraint.length === 0 ? undefined : constraint,
    keepPersonal: then.keepPersonal || now.keepPersonal,
  })
}
