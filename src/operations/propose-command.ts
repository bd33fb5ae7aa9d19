/**
 * How an experiment is run in a folder: the command its instructions name, its package's script, or the file that is called
 * like one. With the seed, where the program takes one.
 */
import { instructionFiles, type ProjectFiles } from './project-files.ts'

export interface ProposedCommand {
  /** With the placeholders `{seed}` and `{out}` where the program takes them. */
  readonly command: string
  /** The program's file; null where the command names none that is there. */
  readonly program: string | null
  readonly takesSeed: boolean
  /** Whether it is told where to write (`--out`). */
  readonly takesFolder: boolean
  readonly where: string
  readonly why: string
}

const runner =
  '(?:uv run|poetry run|pipenv run|python3?|node|bun|deno run|npm run|pnpm run|yarn|cargo run|make|bash|sh|torchrun|accelerate launch)'
const commandLine = new RegExp(
  String.raw`^\s*(?:\$ )?((?:[A-Z_]+=\S+ )*(?:timeout \S+ )?${runner}\s[^\n]*|\./\S[^\n]*)$`,
)
const programFile = /(?:^|[\s"'])((?:[\w.-]+\/)*[\w.-]+\.(?:py|js|mjs|cjs|ts|mts|sh|jl|lua|R))(?=$|[\s"'])/

/** Names under which the program of an experiment goes, the likeliest first. */
const usualPrograms = ['train', 'experiment', 'run', 'bench', 'benchmark', 'main', 'evaluate', 'solve']
const usualScripts = ['train', 'experiment', 'bench', 'benchmark', 'evaluate', 'eval']

export function proposeCommand(files: ProjectFiles): ProposedCommand | null {
  const found = written(files) ?? script(files) ?? usual(files)
  if (found === null) return null
  const program = programFile.exec(found.command)?.[1] ?? null
  const source = program === null ? null : files.text(program)
  const seeded = source === null ? null : withSeed(found.command, source)
  const takesFolder = source !== null && /--out(?:put)?\b/.test(source) && !/--out/.test(found.command)
  const flag = /--output\b/.test(source ?? '') ? '--output' : '--out'
  const command = seeded ?? found.command
  return {
    ...found,
    command: takesFolder ? `${command} ${flag} {out}` : command,
    program: source === null ? null : program,
    takesSeed: seeded !== null,
    takesFolder,
  }
}

interface Found {
  readonly command: string
  readonly where: string
  readonly why: string
}

/** A command line in the instructions whose program is there; one that keeps its output in a file is the loop's own. */
function written(files: ProjectFiles): Found | null {
  for (const { name, text } of instructionFiles(files)) {
    const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(match => match[1]!)
    const lines = [...text.split('\n'), ...spans]
    const commands = lines.flatMap(line => {
      const match = commandLine.exec(line)
      if (!match) return []
      const command = plain(match[1]!)
      const program = programFile.exec(command)?.[1]
      const isThere = program !== undefined ? files.text(program) !== null : isScript(files, command)
      if (!isThere) return []
      const stem = program?.replace(/^.*\/|\.\w+$/g, '') ?? command.split(' ').at(-1)!
      return [{ command, keepsOutput: />|\btee\b/.test(match[1]!), isUsual: usualPrograms.includes(stem) }]
    })
    const chosen = commands.find(({ keepsOutput }) => keepsOutput) ?? commands.find(({ isUsual }) => isUsual)
    if (chosen) return { command: chosen.command, where: name, why: 'the instructions run it' }
  }
  return null
}

function isScript(files: ProjectFiles, command: string): boolean {
  const name = /^(?:npm|pnpm) run (\S+)/.exec(command)?.[1]
  return name !== undefined && name in scripts(files)
}

function script(files: ProjectFiles): Found | null {
  const name = usualScripts.find(name => name in scripts(files))
  return name === undefined
    ? null
    : { command: `npm run ${name}`, where: 'package.json', why: `it has a script "${name}"` }
}

function scripts(files: ProjectFiles): Record<string, unknown> {
  try {
    const parsed = JSON.parse(files.text('package.json') ?? '{}') as { scripts?: Record<string, unknown> } | null
    return parsed?.scripts ?? {}
  } catch {
    return {}
  }
}

function usual(files: ProjectFiles): Found | null {
  for (const name of usualPrograms) {
    for (const [ending, runs] of [
      ['py', python(files)],
      ['js', 'node'],
      ['mjs', 'node'],
      ['ts', 'node'],
      ['sh', 'bash'],
    ] as const) {
      const file = `${name}.${ending}`
      if (files.names.includes(file))
        return { command: `${runs} ${file}`, where: file, why: 'a file with this name is usually the program' }
    }
  }
  return null
}

function python(files: ProjectFiles): string {
  if (files.names.includes('uv.lock')) return 'uv run'
  // Many systems have no `python`; a virtual environment has both.
  return files.text('.venv/pyvenv.cfg') === null ? 'python3' : '.venv/bin/python'
}

/** Without what a runner of experiments does itself: sending the output elsewhere, waiting in the background, comments. */
function plain(line: string): string {
  return line
    .replace(/\s+#\s.*$/, '')
    .replace(/\s*(?:2>&1\s*)?\|\s*tee\b.*$/, '')
    .replace(/\s*(?:\d?>>?|&>>?)\s*(?:&\d|\S+)/g, '')
    .replace(/\s*(?:2>&1|&)\s*$/, '')
    .replace(/\s+--seed[= ](?:\S+|<\w+>|\[\w+\])/, '')
    .replace(/\s*\[[^\]]*\]\s*$/, '')
    .trim()
}

/** The command with a seed, by a flag or a variable that the program's text reads; null where it reads none. */
function withSeed(command: string, source: string): string | null {
  if (/["'`]--seed["'`=]/.test(source)) return `${command} --seed {seed}`
  // A parser that makes flags of names, as node:util and click do.
  if (/\bparseArgs\b/.test(source) && /\bseed\b\s*:\s*\{/.test(source)) return `${command} --seed {seed}`
  const variable = /(?:environ(?:\.get\(|\[)|getenv\(|process\.env(?:\.|\[))\s*["']?(\w*SEED)\b/.exec(source)?.[1]
  return variable === undefined ? null : `${variable}={seed} ${command}`
}
