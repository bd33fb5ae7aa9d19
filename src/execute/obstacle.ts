/**
 * Why a command cannot be started, found out before trying: the shell that starts it would only say 127.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'

/**
 * One sentence, or null when nothing stands in the way. `path` is the run's own PATH; without one, only the shell can
 * tell.
 */
export function obstacleTo(
  command: string | readonly string[],
  workingDirectory: string,
  path: string | undefined,
): string | null {
  if (!isFolder(workingDirectory)) return `the working directory ${workingDirectory} is not an existing folder`
  const program = typeof command === 'string' ? command.trim() : (command[0] ?? '')
  if (program === '') return 'the command is empty'
  if (typeof command === 'string') return null
  if (program.includes('/')) {
    if (isProgram(resolve(workingDirectory, program))) return null
    return `the program ${program} is not an executable file (looked for from ${workingDirectory})`
  }
  if (path === undefined) return null
  const found = path.split(delimiter).some(folder => isProgram(resolve(workingDirectory, folder, program)))
  return found ? null : `the program ${program} is not in any folder of PATH`
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
