/** Files that are named on the command line: their names start from where the user stands. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Context, InputError } from './operation.ts'

export function pathOfGiven(name: string, { standing, directory }: Context): string {
  return resolve(standing ?? directory, name)
}

/** Its text; without one, a sentence with the whole path, because a wrong folder looks like a wrong name. */
export async function textOfGiven(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new InputError(
      cause.code === 'ENOENT'
        ? `There is no file ${path}; correct its name.`
        : `${path} cannot be read (${cause.code ?? cause.message}); name a file that can.`,
      { cause },
    )
  })
}
