/** For tests: what an operation needs of its surroundings, in this process, and what it told. */
import type { CampaignEvent } from '../campaign/events.ts'
import type { Context } from './operation.ts'

export interface Observed extends Context {
  readonly events: CampaignEvent[]
  readonly notes: () => string[]
}

export function inProcess(directory: string, changes: Partial<Context> = {}): Observed {
  const never = new AbortController().signal
  const events: CampaignEvent[] = []
  return {
    directory,
    stop: never,
    cancel: never,
    variables: process.env,
    emit: event => void events.push(event),
    events,
    notes: () => events.flatMap(event => (event.type === 'note' ? [event.text] : [])),
    ...changes,
  }
}
