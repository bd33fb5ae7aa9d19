/**
 * What optimisers remember of one parameter, and the plain record of it that a checkpoint holds.
 */
import { type AdamWState, newAdamWState } from './adamw.ts'
import { type LionState, newLionState } from './lion.ts'
import { type MuonState, newMuonState } from './muon.ts'
import type { Optimiser } from './optimiser.ts'
import { newSgdState, type SgdState } from './sgd.ts'

export type State = AdamWState | MuonState | LionState | SgdState
export type StateOf<K extends Optimiser['kind']> = Extract<State, { readonly kind: K }>

/** A state as plain data. */
export interface StateRecord {
  readonly kind: Optimiser['kind']
  /** AdamW: `steps`. */
  readonly numbers: Readonly<Record<string, number>>
  /** One element for each of the parameter's. AdamW: `firstMoment` and `secondMoment`; the others: `momentum`. */
  readonly arrays: Readonly<Record<string, Float32Array>>
}

const newStates: { readonly [K in Optimiser['kind']]: (size: number) => StateOf<K> } = {
  adamw: newAdamWState,
  muon: newMuonState,
  lion: newLionState,
  sgd: newSgdState,
}

export function newState<K extends Optimiser['kind']>(kind: K, size: number): StateOf<K> {
  return newStates[kind](size)
}

/** The arrays are the state's own, not copies. */
export function exportedState({ kind, ...fields }: State): StateRecord {
  const numbers: Record<string, number> = {}
  const arrays: Record<string, Float32Array> = {}
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'number') numbers[field] = value
    else arrays[field] = value
  }
  return { kind, numbers, arrays }
}

/** A state with copies of the arrays. Throws a sentence for a record that is none of a parameter with this name and size. */
export function importedState(name: string, record: StateRecord, size: number): State {
  checkStateRecord(name, record, size)
  const state = newState(record.kind, size)
  const { arrays } = exportedState(state)
  for (const [key, array] of Object.entries(record.arrays)) arrays[key]!.set(array)
  return { ...state, ...record.numbers }
}

export function checkStateRecord(name: string, { kind, numbers, arrays }: StateRecord, size: number): void {
  if (!Object.hasOwn(newStates, kind))
    throw new Error(`the optimiser of ${name} is ${kind}, expected ${Object.keys(newStates).join(', ')}`)
  const expected = exportedState(newState(kind, 0))
  for (const [field, known, given] of [
    ['numbers', expected.numbers, numbers],
    ['arrays', expected.arrays, arrays],
  ] as const) {
    const [wanted, found] = [known, given].map(part => Object.keys(part).sort().join(', ') || 'none')
    if (wanted !== found) throw new Error(`the optimiser's ${field} of ${name} are ${found}, expected ${wanted}`)
  }
  for (const [key, array] of Object.entries(arrays))
    if (array.length !== size)
      throw new Error(`${key} of ${name} has ${array.length} values, and the parameter has ${size}`)
  for (const [key, value] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Error(`${key} of ${name} is ${value}, expected a whole number from 0 on`)
}
