/** Lists the environments of a ledger: what each measures, how much is known of it, and where that came from. */
import { z } from 'zod'
import { familyId } from '../experiment/environment.ts'
import { openLedgerToRead } from '../ledger/ledger.ts'
import { objectiveText } from '../report/gain-legend.ts'
import { singleLine } from '../report/outside-text.ts'
import { type Column, renderTable } from '../report/table.ts'
import { hanging } from '../report/wrap.ts'
import { saidText } from './import-again.ts'
import { operation } from './operation.ts'
import { shellWord } from './shell-word.ts'
import { inWholeLedger, type WholeLedger } from './surroundings.ts'

export interface ListedEnvironment {
  readonly name: string
  /** Whether it is the environment of the folder. */
  readonly isHere: boolean
  /** With its unit and which way is better. */
  readonly metric: string
  readonly records: number
  /** What was imported into it, oldest first. */
  readonly imports: readonly {
    readonly source: string
    /** ISO 8601, UTC. */
    readonly importedAt: string
    /** What was said of the source, as flags of `import`. */
    readonly flags: string
  }[]
}

export const environments = operation({
  name: 'environments',
  summary: 'list the environments of the ledger: what each measures, and where its records came from',
  example: 'almanac environments',
  positional: [],
  input: z.strictObject({}),
  run: (_, context) => {
    const listed = async ({ ledger, opened }: WholeLedger): Promise<{ readonly environments: ListedEnvironment[] }> => {
      const here = opened === null ? null : familyId(opened.family)
      const counts = await ledger.countsOfFamilies()
      const readings = await ledger.readings()
      const families = await ledger.families()
      return {
        environments: families.map(({ id, family }) => ({
          name: family.name,
          isHere: id === here,
          metric: objectiveText({ family }),
          records: counts.get(id) ?? 0,
          imports: readings
            .filter(({ familyId }) => familyId === id)
            .map(reading => ({
              source: reading.source,
              importedAt: reading.readAt,
              flags: saidText(reading).trim(),
            })),
        })),
      }
    }
    return inWholeLedger(context, listed, openLedgerToRead)
  },
  text: ({ environments }, options) => {
    const { sameFlags = '' } = options
    if (environments.length === 0) return 'The ledger has no environment yet: almanac import results.tsv'
    const rows = environments.map(({ name, isHere, metric, records, imports }) => {
      const last = imports.at(-1)
      const from = last === undefined ? [] : [`${singleLine(last.source)}, ${last.importedAt.slice(0, 10)}`]
      const others = imports.length > 1 ? [`and ${imports.length - 1} more`] : []
      return [`${singleLine(name)}${isHere ? ' (here)' : ''}`, metric, `${records}`, [...from, ...others].join(' ')]
    })
    const flags = environments.flatMap(({ name, imports }) =>
      imports
        .filter(({ flags }) => flags !== '')
        .flatMap(({ source, flags }) => hanging(`${singleLine(name)}: `, `${source} was read with ${flags}`)),
    )
    const first = environments.find(({ imports, isHere }) => imports.length > 0 && !isHere) ?? environments[0]!
    const flag = first.isHere ? '' : ` --environment ${shellWord(first.name)}`
    const imported = environments.find(({ imports }) => imports.length > 0)
    return [
      renderTable(columns, rows, options),
      '',
      ...flags,
      `The records of one: almanac records${flag}${sameFlags}`,
      ...(imported === undefined
        ? []
        : [
            `To leave out again what was imported: almanac withdraw --environment ${shellWord(imported.name)}${sameFlags}`,
          ]),
    ].join('\n')
  },
})

const columns: readonly Column[] = [
  { heading: 'environment', shrinkTo: 20 },
  { heading: 'metric', shrinkTo: 12 },
  { heading: 'records', align: 'right' },
  { heading: 'last imported', shrinkTo: 20 },
]
