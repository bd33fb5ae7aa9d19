/**
 * The files of a folder that say what it is for and how it is run, as far as they exist: read once, in bounded size, as
 * data. What to make of them is for `propose-environment.ts` and its neighbours.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Nothing that a person wrote for people or machines to run is longer; of logs, this much of the end counts. */
const longest = 512 * 1024

export interface ProjectFiles {
  readonly directory: string
  /** Names of the files in the folder itself, sorted. */
  readonly names: readonly string[]
  /** Text of a file relative to the folder; null where there is none, or it is not a plain file of sensible size. */
  text(name: string): string | null
  /** The end of a file that may be long. */
  end(name: string): string | null
}

export function projectFiles(directory: string): ProjectFiles {
  const entries = readdirSync(directory, { withFileTypes: true })
  const read = (name: string, part: 'whole' | 'end'): string | null => {
    const path = join(directory, name)
    try {
      const { size } = statSync(path)
      if (!statSync(path).isFile() || (part === 'whole' && size > longest)) return null
      const bytes = Buffer.alloc(Math.min(size, longest))
      const file = openSync(path, 'r')
      try {
        const count = readSync(file, bytes, 0, bytes.length, size - bytes.length)
        return bytes.subarray(0, count).toString('utf8')
      } finally {
        closeSync(file)
      }
    } catch {
      // Gone, or not for us to read: as if it were not there.
      return null
    }
  }
  return {
    directory,
    names: entries
      .filter(entry => entry.isFile())
      .map(entry => entry.name)
      .sort(),
    text: name => read(name, 'whole'),
    end: name => read(name, 'end'),
  }
}

/** Where people tell an agent, or each other, how the project is run; the more particular first. */
export const instructions = ['program.md', 'AGENTS.md', 'CLAUDE.md', 'README.md', 'README', 'readme.md']

export function instructionFiles(files: ProjectFiles): { name: string; text: string }[] {
  return instructions.flatMap(name => {
    const text = files.names.includes(name) ? files.text(name) : null
    return text === null ? [] : [{ name, text }]
  })
}
