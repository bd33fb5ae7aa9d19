/** One imported history on its way into the ledger: as part of the folder's environment, or as an environment of its own. */
import type { OpenEnvironment } from '../campaign/open-environment.ts'
import { type Direction, familyId } from '../experiment/environment.ts'
import { withConstraints } from '../importers/constraints.ts'
import { examine, leakingRows } from '../importers/examine.ts'
import type { ImportedHistory, ImportedRow } from '../importers/history.ts'
import { importedFamily, importedName } from '../importers/imported-family.ts'
import type { Source } from '../importers/importer.ts'
import { storeHistory } from '../importers/store-history.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { withCode } from './import-code.ts'
import { noteNowAndThen } from './import-progress.ts'
import { referenceIn } from './import-reference.ts'
import type { ImportedEnvironment } from './imported.ts'
import { type Context, InputError } from './operation.ts'
import { rolledBack } from './rolled-back.ts'

export interface Target {
  /** The environment that it becomes part of; null for one of its own. */
  readonly opened: OpenEnvironment | null
  /** The name of one of its own, where the user gave one. */
  readonly as: string | undefined
  readonly dryRun: boolean
}

export async function storeImported(
  read: ImportedHistory,
  source: Source,
  { opened, as, dryRun }: Target,
  said: Direction | undefined,
  ledger: Ledger,
  context: Context,
): Promise<ImportedEnvironment> {
  const named = as === undefined ? read : { ...read, source: as }
  const ruled = opened === null ? named : withConstraints(named, opened.family.constraints)
  const isUnasked = dryRun || ruled.rows.length === 0
  const direction = said ?? ruled.metrics[0].direction ?? (isUnasked ? null : await askDirection(ruled, context))
  const [objective, ...others] = ruled.metrics
  const isSaid = objective.direction !== direction || said !== undefined
  const directed: ImportedHistory = {
    ...ruled,
    metrics: [{ ...objective, direction, guessed: objective.guessed && !isSaid }, ...others],
  }
  const { history, missing } = await withCode(directed, source, opened, ledger.path)
  const constraints = opened?.family.constraints ?? history.constraints
  // Of a source without a row that can be used nothing is stored, not even its name.
  const isEmpty = history.rows.length === 0
  const family = opened?.family ?? (await importedFamily(ledger, history, direction ?? 'minimize', constraints))
  const before = (await ledger.currentVersion(familyId(family)))?.version.id ?? null
  const store = (ledger: Ledger) => storeHistory(ledger, family, history, noteNowAndThen(context, 'stored'))
  const stored = isEmpty ? nothingStored : await (dryRun ? rolledBack(ledger, store) : store(ledger))
  const { leaking, atRisk, dates, unusable } = examine(history)
  return {
    name: opened === null ? importedName(history) : family.name,
    isHere: opened !== null,
    metrics: history.metrics,
    constraints: history.constraints,
    reference: referenceIn(history),
    statuses: history.statuses,
    columns: history.columns ?? [],
    doubtful: history.doubtful ?? [],
    guesses: history.guesses,
    added: stored.added,
    known: stored.known,
    unusable: history.unusable,
    unusableByReason: unusable,
    withoutCode: missing,
    violated: history.rows.filter(({ outcome }) => outcome.kind === 'violated').length,
    leaking,
    cuts: dryRun ? leakingRows(history).map(cutOf) : [],
    atRisk,
    dates,
    changesReference: opened !== null && stored.isCurrent && stored.lastVersionId !== before,
  }
}

function cutOf({ place, intervention, note }: ImportedRow): ImportedEnvironment['cuts'][number] {
  return { place, tried: intervention.sentence, cut: note! }
}

const nothingStored = { added: { references: 0, kept: 0, tried: 0 }, known: 0, isCurrent: false, lastVersionId: null }

async function askDirection(history: ImportedHistory, context: Context): Promise<Direction> {
  const { name } = history.metrics[0]
  const answer = await context.ask?.({
    text: `Is ${name} (${importedName(history)}) better when it is lower or when it is higher?`,
    choices: ['lower', 'higher'],
  })
  if (answer === 'lower') return 'minimize'
  if (answer === 'higher') return 'maximize'
  throw new InputError(
    `Nothing tells whether ${name} of ${importedName(history)} is better when it is lower or higher; say --direction minimize or --direction maximize.`,
  )
}
