/** What a large import says while it goes on. A small one says nothing. */
import type { Context } from './operation.ts'

const rowsBetween = 50_000

export function noteNowAndThen(context: Context, what: string): (rows: number) => void {
  let told = 0
  return rows => {
    if (rows - told < rowsBetween) return
    told = rows
    context.emit({ type: 'note', text: `${rows.toLocaleString('en')} rows ${what}` })
  }
}
