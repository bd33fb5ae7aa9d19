/**
 * The process that stays with one run and outlives whoever launched it. Reads which run from standard input, claims the
 * start, has the command supervised, and writes how it ended; SIGTERM asks it to cancel the run. It and what it imports
 * use nothing but Node, because it starts once a run.
 */
import { readFileSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createExclusively, writeAtomically } from '../files/atomic.ts'
import type { Exit } from './exit.ts'
import { identityOf } from './process-table.ts'
import { type Order, pathOf, readLaunch } from './run-folder.ts'
import { supervise } from './supervise.ts'

const cancelled = new AbortController()
process.on('SIGTERM', () => cancelled.abort())
// Nobody is left to read a complaint. A claimed run without an exit is seen to be lost, and what lives of it is ended
// then.
process.on('uncaughtException', () => process.exit(1))

// Nothing at all, when whoever made us has no run for us, or died before it could say.
const text = readFileSync(0, 'utf8')
if (text !== '') await stayWith(JSON.parse(text) as Order)

async function stayWith({ folder, variables }: Order): Promise<void> {
  const launch = readLaunch(folder)
  const claim = JSON.stringify({ wrapper: identityOf(process.pid) })
  if (!launch || !createExclusively(pathOf(folder, 'claim'), claim)) return
  await leaveWord(folder, await supervise(folder, launch, variables, cancelled.signal))
}

/** A full disk may have room again in a while, above all once the run has ended; a minute later the run is lost. */
async function leaveWord(folder: string, exit: Exit): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      writeAtomically(pathOf(folder, 'exit'), JSON.stringify(exit))
      // Whoever waits watches this one.
      utimesSync(pathOf(folder, 'launch'), new Date(), new Date())
      return
    } catch (error) {
      if (attempt === 60) throw error
      await sleep(1000)
    }
  }
}
