/** Leaves out what imports brought: of one source, or of one environment. It stays in the file of the ledger, and in no list. */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Source } from '../importers/importer.ts'
import { sourceOf } from '../importers/source.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredReading } from '../ledger/readings.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { wrap } from '../report/wrap.ts'
import { placeOfSource } from './import-again.ts'
import { namesOf } from './import-store.ts'
import { InputError, operation } from './operation.ts'
import { inWholeLedger } from './surroundings.ts'

export const withdraw = operation({
  name: 'withdraw',
  summary: 'leave out what imports brought, of a source or of an environment',
  example: 'almanac withdraw sweep.csv',
  positional: ['what'],
  input: z.strictObject({
    what: z.string().describe('the file, folder or URL that was imported, or the name of an environment'),
  }),
  run: ({ what }, context) =>
    inWholeLedger(context, async ({ ledger }) => {
      const readings = await ledger.readings()
      const place = placeOfSource(sourceNamed(what, context.standing ?? context.directory), ledger.path)
      const ofPlace = readings.filter(reading => reading.place === place)
      const found = ofPlace.length > 0 ? ofPlace : await ofEnvironment(what, readings, ledger)
      if (found.length === 0) {
        throw new InputError(
          `Nothing that is in the ledger was imported from ${what}, or is called so; "almanac environments" lists what there is.`,
        )
      }
      const ids = found.map(({ id }) => id)
      const rows = await ledger.countRowsOfReadings(ids)
      await ledger.withdrawReadings(ids)
      return {
        rows,
        environments: await namesOf(found, ledger),
        sources: [...new Set(found.map(({ source }) => source))],
      }
    }),
  text: ({ rows, environments, sources }, { width }) => {
    const [are, them] = rows === 1 ? ['is', 'it'] : ['are', 'them']
    const what = `${countText(rows, 'row')} of ${environments.join(', ')} that came from ${sources.join(', ')} ${are} left out from now on.`
    return wrap(
      singleLine(`${what} The ledger's file keeps ${them}; importing the source again brings ${them} back.`),
      width,
    )
  },
})

/** As it was named when it was imported; it need not be there any more. */
function sourceNamed(what: string, folder: string): Source {
  try {
    return sourceOf(what, folder)
  } catch {
    return { kind: 'file', path: resolve(folder, what), name: what }
  }
}

async function ofEnvironment(
  name: string,
  readings: readonly StoredReading[],
  ledger: Ledger,
): Promise<readonly StoredReading[]> {
  const ids = new Set((await ledger.families(name)).map(({ id }) => id))
  return readings.filter(({ familyId }) => ids.has(familyId))
}
