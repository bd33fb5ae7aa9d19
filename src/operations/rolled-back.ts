/** How a dry run knows what would be new: everything is done, and taken back. */
import type { Ledger } from '../ledger/ledger.ts'

/** What the action gives back, with everything that it wrote in the ledger taken back. */
export async function rolledBack<T>(ledger: Ledger, action: (ledger: Ledger) => Promise<T>): Promise<T> {
  const enough = new Error('rolled back on purpose')
  let result: { readonly value: T } | null = null
  try {
    await ledger.transaction(async ledger => {
      result = { value: await action(ledger) }
      throw enough
    })
  } catch (error) {
    if (error !== enough) throw error
  }
  return result!.value
}
