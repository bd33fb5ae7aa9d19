/**
 * The hash that a tree would have with some of its entries replaced, computed without git and without adding anything to
 * the repository: thousands of them in the time in which git would start a few times.
 */
import { createHash } from 'node:crypto'
import type { ObjectReader } from './object-reader.ts'

export interface TreeEntry {
  /** Octal, as git writes it in a tree: `100644`, and `40000` for a folder. */
  readonly mode: string
  readonly object: string
}

export interface TreeEditor {
  /** What stands at a path; null where nothing does. */
  entryAt(tree: string, path: string): Promise<TreeEntry | null>
  /** The hash of the tree with these entries in the place of what is there; null takes an entry out, and folders that become empty. */
  withEntries(tree: string, entries: ReadonlyMap<string, TreeEntry | null>): Promise<string>
}

/** Names as bytes, one character each, since git orders and hashes bytes. */
type Entries = Map<string, TreeEntry>

export function treeEditor(objects: ObjectReader): TreeEditor {
  /** Trees that were read or made. As many as there are folders on the paths that are asked for, at each state of theirs. */
  const trees = new Map<string, Promise<Entries>>()

  return {
    entryAt: async (tree, path) => {
      let entry: TreeEntry | null = { mode: folder, object: tree }
      for (const name of bytes(path).split('/')) {
        if (entry?.mode !== folder) return null
        entry = (await entriesOf(entry.object)).get(name) ?? null
      }
      return entry
    },
    withEntries: (tree, entries) =>
      edited(
        tree,
        [...entries].map(([path, entry]) => [bytes(path).split('/'), entry] as const),
      ),
  }

  async function edited(
    tree: string,
    replacements: readonly (readonly [readonly string[], TreeEntry | null])[],
  ): Promise<string> {
    const entries: Entries = new Map(await entriesOf(tree))
    const inside = new Map<string, [readonly string[], TreeEntry | null][]>()
    for (const [[name, ...rest], entry] of replacements) {
      if (rest.length > 0) inside.set(name!, [...(inside.get(name!) ?? []), [rest, entry]])
      else if (entry === null) entries.delete(name!)
      else entries.set(name!, entry)
    }
    for (const [name, deeper] of inside) {
      const before = entries.get(name)
      const object = await edited(before?.mode === folder ? before.object : emptyTree(tree), deeper)
      if (object !== emptyTree(tree)) entries.set(name, { mode: folder, object })
      else if (before?.mode === folder) entries.delete(name)
    }
    const object = hashOf(entries, tree.length)
    trees.set(object, Promise.resolve(entries))
    return object
  }

  function entriesOf(tree: string): Promise<Entries> {
    const known = trees.get(tree) ?? readEntries(tree)
    trees.set(tree, known)
    return known
  }

  async function readEntries(tree: string): Promise<Entries> {
    if (tree === emptyTree(tree)) return new Map()
    const content = await objects.read(tree)
    if (content === null) throw new Error(`the repository lacks the tree ${tree}; is it a partial clone?`)
    return parsed(content, tree.length / 2)
  }
}

const folder = '40000'

function bytes(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1')
}

function parsed(content: Buffer, hashBytes: number): Entries {
  const entries: Entries = new Map()
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at)
    const end = content.indexOf(0, space)
    const name = content.toString('latin1', space + 1, end)
    const object = content.toString('hex', end + 1, end + 1 + hashBytes)
    entries.set(name, { mode: content.toString('latin1', at, space), object })
    at = end + 1 + hashBytes
  }
  return entries
}

/** Git orders a folder as if its name ended in a slash. */
function hashOf(entries: Entries, digits: number): string {
  const inOrder = [...entries]
    .map(([name, entry]) => ({ name, entry, order: entry.mode === folder ? `${name}/` : name }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  const content = Buffer.concat(
    inOrder.flatMap(({ name, entry }) => [
      Buffer.from(`${entry.mode} ${name}\0`, 'latin1'),
      Buffer.from(entry.object, 'hex'),
    ]),
  )
  return createHash(digits === 64 ? 'sha256' : 'sha1')
    .update(`tree ${content.length}\0`)
    .update(content)
    .digest('hex')
}

const emptyTrees = { 40: hashOf(new Map(), 40), 64: hashOf(new Map(), 64) }

/** The empty tree in the hash that a repository uses. */
function emptyTree(like: string): string {
  return emptyTrees[like.length === 64 ? 64 : 40]
}
