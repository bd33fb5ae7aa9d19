/**
 * One write is one short transaction; several writes can share one. Inside a transaction only its own handle may be
 * used: the connection is held, and asking for it again would wait for ever.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database } from './tables.ts'

const held = new AsyncLocalStorage<{ readonly db: Database; over: boolean }>()

/** Runs `action` in a transaction that takes the write lock first; inside one already, it simply joins. */
export async function inTransaction<T>(db: Database, action: (db: Database) => Promise<T>): Promise<T> {
  if (db.isTransaction) return action(db)
  refuseWhileHeld(db)
  const holding = { db, over: false }
  try {
    return await db.transaction().execute(transaction => held.run(holding, () => action(transaction)))
  } finally {
    // What the action set going may live on, in the same asynchronous context.
    holding.over = true
  }
}

/** Throws when called from inside a transaction on the same ledger with the outer handle. */
export function refuseWhileHeld(db: Database): void {
  const holding = held.getStore()
  if (holding?.db === db && !holding.over) {
    throw new Error('inTransaction: use the ledger that the transaction hands to its function, not the outer one')
  }
}
