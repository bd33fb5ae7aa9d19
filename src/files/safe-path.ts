/**
 * Paths that came from outside (a configuration, a diff, a record) stay inside their folder.
 * Leaves out races: it is a check at one moment, for folders that no attacker rewrites meanwhile.
 */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/**
 * The absolute path of `path` in `folder`. Throws one sentence when `path` is absolute, has a `..`, or passes a
 * symbolic link that leaves the folder or leads nowhere. The path itself need not exist; the folder must.
 */
export function resolveInside(folder: string, path: string): string {
  if (path === '' || path.includes('\0')) throw new Error(`the path ${JSON.stringify(path)} is not a path`)
  if (isAbsolute(path)) throw new Error(`the path ${path} is absolute; give it relative to ${folder}`)
  if (path.split(/[/\\]/).includes('..')) throw new Error(`the path ${path} has a ".."; it must stay inside ${folder}`)
  const whole = resolve(join(folder, path))
  const home = realpathSync(folder)
  // Every step, not only the last: a link that leaves may lead to another that comes back, and both may be changed.
  const steps = relative(resolve(folder), whole).split(sep)
  for (let count = 1; count <= steps.length; count++) {
    const real = realpathOfExisting(join(resolve(folder), ...steps.slice(0, count)), path)
    if (!isInside(home, real)) throw new Error(`the path ${path} leaves ${folder} through a symbolic link (to ${real})`)
  }
  return whole
}

/** Whether `path` is `folder` or below it, as text: both absolute, symbolic links not followed. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** The real path of the deepest part that exists. A link that leads nowhere is refused: writing would follow it out. */
function realpathOfExisting(whole: string, path: string): string {
  for (let part = whole; ; part = dirname(part)) {
    try {
      return realpathSync(part)
    } catch (error) {
      if (lstatSync(part, { throwIfNoEntry: false })?.isSymbolicLink()) {
        throw new Error(`the path ${path} passes a symbolic link that leads nowhere (${part})`, { cause: error })
      }
      if (dirname(part) === part) throw error
    }
  }
}
