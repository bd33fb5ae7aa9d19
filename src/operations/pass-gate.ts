/** The gate before a run or a forecast: what speaks against it, and for a run the refusal where that is enough. */
import { type GateRule, type Objection, objectionsFromRecords } from '../campaign/gate.ts'
import type { Candidate } from '../experiment/record.ts'
import { type Context, NothingToDo } from './operation.ts'
import type { Place } from './surroundings.ts'

/** What the ledger holds against each candidate: asked before its forecast, which may cost money. */
export async function triedBefore(
  candidates: readonly Candidate[],
  rule: GateRule,
  { environment, ledger }: Place,
): Promise<Objection[][]> {
  const records = await ledger.recordsOf({ familyIds: [environment.familyId] })
  return objectionsFromRecords(candidates, records, environment, rule)
}

/** Tells the objections; throws those that refuse, unless the candidate is to run anyway. */
export function passGate(objections: readonly Objection[], anyway: boolean | undefined, emit: Context['emit']): void {
  const refusing = objections.filter(({ refuses }) => refuses && !anyway)
  for (const objection of objections) {
    if (refusing.length === 0) emit({ type: 'note', text: `${objection.reason}. That does not hold it back.` })
    else if (!refusing.includes(objection)) emit({ type: 'note', text: `${objection.reason}.` })
  }
  if (refusing.length === 0) return
  const sentences = refusing.map(({ reason }) => `${reason}.`)
  throw new NothingToDo([...sentences, 'It was not run; --anyway runs it all the same.'].join('\n'))
}
