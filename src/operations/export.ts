/** Writes an environment's records to a file, to keep beside a program or to give away. `import` reads it back. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { writeAtomically } from '../files/atomic.ts'
import { writeRecords } from '../importers/write-records.ts'
import { openLedgerToRead } from '../ledger/ledger.ts'
import { singleLine } from '../report/outside-text.ts'
import { pathOfGiven } from './given-file.ts'
import { operation } from './operation.ts'
import { shellWord } from './shell-word.ts'
import { inLedger } from './surroundings.ts'

export const exportRecords = operation({
  name: 'export',
  summary: 'write the records of this environment to a file that "import" reads',
  example: 'almanac export records.jsonl',
  positional: ['path'],
  input: z.strictObject({
    path: z.string().describe('the file to write, JSON lines'),
    environment: z.string().optional().describe('of this environment of the ledger (default: the one of this folder)'),
  }),
  run: ({ path, environment: name }, context) =>
    inLedger(
      context,
      name,
      async ({ ledger, environment }) => {
        const file = pathOfGiven(path, context)
        const text = await writeRecords(ledger, environment.familyId)
        mkdirSync(dirname(file), { recursive: true })
        writeAtomically(file, text)
        return {
          path: file,
          environment: environment.family.name,
          interventions: text.split('\n').filter(Boolean).length - 1,
        }
      },
      openLedgerToRead,
    ),
  text: ({ path, environment, interventions }) =>
    [
      `${interventions} interventions of ${singleLine(environment)} with their runs, references included: ${path}`,
      `To bring them into another ledger, there: almanac import ${shellWord(path)}`,
    ].join('\n'),
})
