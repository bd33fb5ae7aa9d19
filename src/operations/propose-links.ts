/**
 * What a worktree of the repository would lack: folders and files that git ignores and a run needs, such as data and virtual
 * environments. They are linked into it, never copied.
 */
import { runGit } from '../repository/git.ts'

const needed =
  /^(data|datasets?|corpus|corpora|assets|checkpoints|models?|weights|tokenizers?|cache|\.cache|\.venv|venv|env|node_modules|vendor)$/i
const neededFile = /^\.env$|\.(bin|pt|npz|npy|safetensors|parquet|arrow|h5|db|sqlite)$/i

export interface ProposedLink {
  readonly path: string
  readonly why: string
}

/** Paths relative to the directory; nothing outside git, where runs stay in place. */
export async function proposeLinks(directory: string): Promise<ProposedLink[]> {
  const { code, stdout } = await runGit(directory, [
    'ls-files',
    '--others',
    '--ignored',
    '--exclude-standard',
    '--directory',
    '-z',
  ])
  if (code !== 0) return []
  const paths = stdout
    .toString('utf8')
    .split('\0')
    .filter(path => path !== '' && !path.split('/').includes('.almanac'))
  return paths
    .map(path => ({ path: path.replace(/\/$/, ''), isFolder: path.endsWith('/') }))
    .filter(({ path, isFolder }) => (isFolder ? needed : neededFile).test(path.split('/').at(-1)!))
    .map(({ path, isFolder }) => ({
      path,
      why: `git ignores this ${isFolder ? 'folder' : 'file'}, so a worktree would lack it`,
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
