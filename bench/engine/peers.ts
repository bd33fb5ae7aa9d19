/**
 * Where the peers of bench/engine.ts come from: an environment of Python and a folder of npm in the temporary folder, made the first
 * time and kept. What cannot be installed is left out of the comparison with a sentence.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const jaxVersion = '0.1.25'
const firstLine = (error: unknown) => (error instanceof Error ? error.message.split('\n')[0]! : String(error))

/** The command that starts PyTorch's contender, or null. */
export function torchCommand(): readonly string[] | null {
  const folder = join(tmpdir(), 'almanac-bench-torch')
  const python = join(folder, 'bin', 'python')
  const run = (...parts: string[]) => execFileSync(python, parts, { stdio: 'pipe' })
  try {
    if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe' })
    try {
      run('-c', 'import torch, transformers')
    } catch {
      console.error(`Installing PyTorch and transformers into ${folder} …`)
      run('-m', 'pip', 'install', '--quiet', 'torch', 'transformers', 'numpy')
    }
    return [python, join(import.meta.dirname, 'torch_contender.py')]
  } catch (error) {
    console.error(`PyTorch is left out: ${firstLine(error)}`)
    return null
  }
}

/** The command that starts the contender of @jax-js/jax, or null. */
export function jaxCommand(): readonly string[] | null {
  const folder = join(tmpdir(), 'almanac-bench-jax')
  try {
    if (!existsSync(join(folder, 'node_modules', '@jax-js', 'jax'))) {
      console.error(`Installing @jax-js/jax ${jaxVersion} into ${folder} …`)
      mkdirSync(folder, { recursive: true })
      const parts = ['install', '--prefix', folder, '--no-save', '--silent', `@jax-js/jax@${jaxVersion}`]
      execFileSync('npm', parts, { stdio: 'pipe' })
    }
    return [process.execPath, join(import.meta.dirname, 'jax-contender.js'), folder]
  } catch (error) {
    console.error(`@jax-js/jax is left out: ${firstLine(error)}`)
    return null
  }
}
