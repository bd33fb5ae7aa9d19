/** Leaves out what imports brought: of one source, or into one environment. It stays in the file of the ledger, and in no list. */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Source } from '../importers/importer.ts'
import { sourceOf } from '../importers/source.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { wrap } from '../report/wrap.ts'
import { placeOfSource, saidText } from './import-again.ts'
import { namesOf } from './import-store.ts'
import { InputError, operation } from './operation.ts'
import { shellWord } from './shell-word.ts'
import { inWholeLedger } from './surroundings.ts'

export const withdraw = operation({
  name: 'withdraw',
  summary: 'leave out what an import brought; it stays in the file of the ledger, and can be imported again',
  example: 'almanac withdraw sweep.csv',
  positional: ['path'],
  input: z.strictObject({
    path: z.string().optional().describe('the file, folder or URL that was imported; it need not be there any more'),
    environment: z.string().optional().describe('only what was imported into this environment; alone: all of that'),
  }),
  run: ({ path, environment }, context) =>
    inWholeLedger(context, async ({ ledger }) => {
      if (path === undefined && environment === undefined) {
        throw new InputError(
          'Name what was imported, or an environment with --environment NAME; "almanac environments" lists both.',
        )
      }
      const place =
        path === undefined ? null : placeOfSource(sourceNamed(path, context.standing ?? context.directory), ledger.path)
      const families = environment === undefined ? null : await ledger.families(environment)
      const found = (await ledger.readings()).filter(
        reading =>
          (place === null || reading.place === place) &&
          (families === null || families.some(({ id }) => id === reading.familyId)),
      )
      if (found.length === 0) {
        const from = path === undefined ? '' : ` from ${path}`
        const into = environment === undefined ? '' : ` into ${environment}`
        throw new InputError(
          `Nothing that counts was imported${from}${into}; "almanac environments" lists what there is, and a path is looked for where you stand.`,
        )
      }
      const ids = found.map(({ id }) => id)
      const rows = await ledger.countRowsOfReadings(ids)
      await ledger.withdrawReadings(ids)
      return {
        path: path ?? null,
        rows,
        environments: await namesOf(found, ledger),
        sources: [...new Set(found.map(({ source }) => source))],
        flags: [...new Set(found.map(saidText))],
      }
    }),
  text: ({ path, rows, environments, sources, flags }, { width, sameFlags = '' }) => {
    const [are, them] = rows === 1 ? ['is', 'it'] : ['are', 'them']
    const what = `${countText(rows, 'row')} of ${environments.join(', ')} that came from ${sources.join(', ')} ${are} left out from now on.`
    return [
      wrap(singleLine(`${what} The ledger's file keeps ${them}. To have ${them} again:`), width),
      ...flags.map(each => `  almanac import ${path === null ? 'PATH' : shellWord(path)}${each}${sameFlags}`),
    ].join('\n')
  },
})

/** As it was named when it was imported. */
function sourceNamed(path: string, folder: string): Source {
  try {
    return sourceOf(path, folder)
  } catch {
    return { kind: 'file', path: resolve(folder, path), name: path }
  }
}
