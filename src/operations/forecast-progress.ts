/** What is said while many pools are forecast, some of which take a second each. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nowAndThen } from '../forecast/now-and-then.ts'
import type { Context } from './operation.ts'

/** Told before each pool: who forecasts, which pool from 0, and of how many. Waited for, it lets Ctrl-C be heard. */
export function forecastProgress(context: Context): (who: string, done: number, of: number) => Promise<void> {
  const say = nowAndThen((who: string, done: number, of: number) =>
    context.emit({ type: 'note', text: `${who}: ${done} of ${of} pools forecast` }),
  )
  return async (...said) => {
    say(...said)
    await nextTurn()
    context.stop.throwIfAborted()
  }
}
