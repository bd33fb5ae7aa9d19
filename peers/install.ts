/**
 * Installs what a test of peers needs into the temporary folder, the first time, and keeps it. What cannot be installed is a sentence, with
 * which its tests are skipped by name.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const limit = { timeout: 900_000 }

export interface Installed {
  readonly folder: string
  /** Why it could not be installed; null where it was. */
  readonly obstacle: string | null
}

/** Packages of Python with their versions, as pip takes them, into a virtual environment. */
export function installPython(name: string, packages: readonly string[]): Promise<Installed> {
  return installOnce(name, packages, async folder => {
    await run('python3', ['-m', 'venv', folder], limit)
    const parameters = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]
    await run(join(folder, 'bin', 'python'), parameters, limit)
  })
}

/** A package of npm, with its version, into a folder of its own: no dependency of this project. */
export function installNode(name: string, versioned: string): Promise<Installed> {
  return installOnce(name, [versioned], async folder => {
    writeFileSync(join(folder, 'package.json'), '{}')
    await run('npm', ['install', '--prefix', folder, '--no-fund', '--no-audit', versioned], limit)
  })
}

async function installOnce(
  name: string,
  packages: readonly string[],
  install: (folder: string) => Promise<void>,
): Promise<Installed> {
  const folder = join(tmpdir(), 'almanac-peers', name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'))
  // Written last, so that an installation that was interrupted is made anew.
  const finished = join(folder, 'installed.txt')
  const wanted = packages.join('\n')
  if (existsSync(finished) && readFileSync(finished, 'utf8') === wanted) return { folder, obstacle: null }
  console.error(`Installing ${name} into ${folder} …`)
  try {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    await install(folder)
    writeFileSync(finished, wanted)
    return { folder, obstacle: null }
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    const lines = stderr.split('\n').filter(line => /error/i.test(line))
    return { folder, obstacle: `${name} could not be installed (${(lines[0] ?? message.split('\n')[0]!).trim()})` }
  }
}
