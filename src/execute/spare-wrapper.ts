/**
 * Wrapper processes, made before they are needed: Node takes longer to start than all else that a launch does. At most
 * one waits; it ends by itself when this process ends, because then its standard input does.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { extname, join } from 'node:path'

let spare: Promise<ChildProcess> | null = null

/** A wrapper that waits for its order; the next one is made meanwhile. Throws when no process can be made. */
export async function takeWrapper(): Promise<ChildProcess> {
  const waiting = await spareOrNull()
  const wrapper = waiting ?? (await makeWrapper())
  if (spare === null) {
    spare = makeWrapper()
    // Whoever takes it learns of a failure; until then it is nobody's.
    spare.catch(() => {})
  }
  return wrapper
}

async function spareOrNull(): Promise<ChildProcess | null> {
  const taken = spare
  spare = null
  try {
    const wrapper = await taken
    return wrapper?.exitCode === null && wrapper.signalCode === null ? wrapper : null
  } catch {
    // It could not be made then; perhaps it can now, and else the reason is told now.
    return null
  }
}

/** Does not keep this process alive, nor end with it once it has its order. */
async function makeWrapper(): Promise<ChildProcess> {
  const wrapper = spawn(process.execPath, [wrapperPath], {
    cwd: '/',
    env: wrapperVariables(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await once(wrapper, 'spawn')
  wrapper.unref()
  const input = wrapper.stdin as Socket
  input.unref()
  return wrapper
}

/** Beside this file, with its extension: TypeScript here, JavaScript once compiled. */
const wrapperPath = join(import.meta.dirname, `wrapper${extname(import.meta.filename)}`)

/**
 * The wrapper's own variables, which the command does not see. Node's options are for our process, not for this one;
 * its compile cache saves more than half of the start, because types are then stripped once and not once a run.
 */
function wrapperVariables(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_'))
  const cache = compileCache()
  return { ...Object.fromEntries(inherited), ...(cache === null ? {} : { NODE_COMPILE_CACHE: cache }) }
}

/** A folder that only this user can write, because Node runs what is in it; null where there is no such folder. */
function compileCache(): string | null {
  try {
    const { uid } = userInfo()
    const folder = join(tmpdir(), `almanac-compile-cache-${uid}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const status = lstatSync(folder)
    return status.isDirectory() && status.uid === uid && (status.mode & 0o022) === 0 ? folder : null
  } catch {
    return null
  }
}
