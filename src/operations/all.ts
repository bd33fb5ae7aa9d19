/**
 * Every operation there is, in the order of the help text. The file of one is read when it is asked for: to read them all takes
 * longer than most of them do.
 */
import type { Operation } from './operation.ts'

const byName = {
  init: async () => (await import('./init.ts')).init,
  import: async () => (await import('./import.ts')).importHistory,
  environments: async () => (await import('./environments.ts')).environments,
  withdraw: async () => (await import('./withdraw.ts')).withdraw,
  forecast: async () => (await import('./forecast.ts')).forecast,
  evaluate: async () => (await import('./evaluate.ts')).evaluate,
  replay: async () => (await import('./replay.ts')).replay,
  doctor: async () => (await import('./doctor.ts')).doctor,
  run: async () => (await import('./run.ts')).run,
  promote: async () => (await import('./promote.ts')).promote,
  'campaign start': async () => (await import('./campaign-start.ts')).campaignStart,
  'campaign resume': async () => (await import('./campaign-resume.ts')).campaignResume,
  'campaign status': async () => (await import('./campaign-status.ts')).campaignStatus,
  records: async () => (await import('./records.ts')).records,
  report: async () => (await import('./report.ts')).report,
  export: async () => (await import('./export.ts')).exportRecords,
}

export async function allOperations(): Promise<readonly Operation[]> {
  const all = await Promise.all(Object.values(byName).map(read => read()))
  return all as unknown as readonly Operation[]
}

/** The one that these words of a command line call; all of them where they call none. */
export async function operationsFor(words: readonly string[]): Promise<readonly Operation[]> {
  const called = Object.entries(byName).find(([name]) => name === words.slice(0, name.split(' ').length).join(' '))
  return called === undefined ? allOperations() : [(await called[1]()) as unknown as Operation]
}
