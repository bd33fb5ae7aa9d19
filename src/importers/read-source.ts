/**
 * The front door of importing: finds the format, reads, takes out what is personal, and applies the rules. What comes out may be stored.
 */
import { contentHash } from '../experiment/json.ts'
import { constraintText } from './constraint-text.ts'
import { withConstraints } from './constraints.ts'
import { importerFor } from './formats.ts'
import type { ImportedHistory } from './history.ts'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { withoutPersonal } from './personal.ts'
import { refuseUnusedOptions } from './unused-options.ts'

export interface ReadSource {
  readonly importer: Importer
  /** In the order of the source; those that were asked for. */
  readonly histories: readonly ImportedHistory[]
}

/** Throws a sentence where no format recognises the source, it cannot be read, or has no environment of the name asked for. */
export async function readSource(source: Source, options: ImportOptions, format?: string): Promise<ReadSource> {
  const importer = await importerFor(source, format)
  refuseUnusedOptions(importer, source, options)
  const all = await readBy(importer, source, options)
  const wanted = options.environment
  const hostless = source.kind === 'address' ? hostlessName(source.url, importer) : undefined
  const isWanted = (name: string | null) =>
    [name, `${source.name}/${name}`, `${hostless ?? source.name}/${name}`].includes(wanted!)
  const histories = wanted === undefined ? all : all.filter(({ name }) => isWanted(name))
  if (histories.length === 0) {
    const names = all.map(({ name }) => name ?? 'one without a name')
    throw new Error(
      wanted === undefined
        ? `${source.name} holds no experiment`
        : `${source.name} has no environment "${wanted}"; it has ${names.join(', ') || 'none'}`,
    )
  }
  refuseUnknownMetrics(histories, options, source)
  return {
    importer,
    histories: histories.map(history =>
      ruled(options.keepPersonal ? history : withoutPersonal(history, hostless), options),
    ),
  }
}

/** An importer says in a sentence what it cannot read; what it did not foresee, of a source that others damaged or made up, is said here. */
async function readBy(importer: Importer, source: Source, options: ImportOptions): Promise<readonly ImportedHistory[]> {
  try {
    return await importer.read(source, options)
  } catch (cause) {
    const isUnforeseen = [TypeError, RangeError, SyntaxError].some(kind => cause instanceof kind)
    if (!isUnforeseen) throw cause
    throw new Error(
      `${source.name} is damaged, or no ${importer.name}: it cannot be read (${(cause as Error).message}); say with --format if it is something else`,
      { cause },
    )
  }
}

/** Tells servers apart and does not say where they are: too short a hash to find the address by trying all there are. */
function hostlessName({ host, pathname }: URL, { name }: Importer): string {
  return `${name}-${contentHash([host, pathname.replace(/\/+$/, '')]).slice(0, 6)}`
}

/** A rule on a metric that nothing has would hold in silence. */
function refuseUnknownMetrics(
  histories: readonly ImportedHistory[],
  { constraints = [] }: ImportOptions,
  source: Source,
): void {
  const known = new Set(histories.flatMap(({ metrics }) => metrics.map(({ name }) => name)))
  const unknown = constraints.find(({ metric }) => !known.has(metric))
  if (unknown !== undefined) {
    throw new Error(
      `${source.name} has no metric "${unknown.metric}" for the constraint; its metrics are ${[...known].slice(0, 20).join(', ')}`,
    )
  }
}

function ruled(history: ImportedHistory, { constraints = [] }: ImportOptions): ImportedHistory {
  const known = new Set(history.constraints.map(constraintText))
  const all = [...history.constraints, ...constraints.filter(each => !known.has(constraintText(each)))]
  return { ...withConstraints(history, all), constraints: all }
}
