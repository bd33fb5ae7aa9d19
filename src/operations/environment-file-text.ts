/** The text of an `almanac.config.ts`: what `init` found, and a line on each thing a user may want to add. */
import type { EnvironmentInput } from '../campaign/environment-file.ts'

export function environmentFileText(environment: EnvironmentInput): string {
  const fields = Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === '') return []
    const comment = commentOn(name, environment)
    return [...(comment ? [`  // ${comment}`] : []), `  ${name}: ${indented(value)},`]
  })
  const further = Object.entries(suggestions).flatMap(([name, [example, comment]]) =>
    name in environment ? [] : [`  // ${name}: ${example}, // ${comment}`],
  )
  return [
    '// What Almanac needs to know of this folder. Every field: docs/environment-file.md of Almanac.',
    'export default {',
    ...fields,
    '',
    ...further,
    '}',
    '',
  ].join('\n')
}

function commentOn(name: string, { reference }: EnvironmentInput): string | undefined {
  const usesGit = reference?.commit !== undefined
  if (name === 'command') return `Runs one experiment${usesGit ? ', in a worktree of its own' : ''}. ${placeholders}`
  if (name !== 'reference' || usesGit) return comments[name]
  const code = reference?.code === undefined ? "code: ['train.py', 'model/']" : '"code"'
  return `${comments[name]}\n  // ${code}: files and folders that a run reads. When one changes, the reference is measured anew.`
}

const placeholders = '{seed}, {config}, {out}, {slot} and {root} are replaced.'

const comments: Readonly<Record<string, string>> = {
  reference: 'What changes are compared with: where to begin. "almanac promote" moves it.',
  metrics:
    'The first is the objective. A pattern has one group around the number; its last match in the output counts.',
  evaluator: 'Files that decide the metric: a change of them is refused.',
  link: 'Not in git, but needed by a run: linked into its worktree.',
  results: 'The log that "almanac import" reads.',
}

const suggestions: Readonly<Record<string, readonly [string, string]>> = {
  seeds: ['2', 'runs of each change'],
  referenceSeeds: ['3', 'runs of the reference: they tell what is noise'],
  concurrency: ['1', 'runs at once'],
  budget: ['{ seconds: 600, memoryMegabytes: 8000 }', 'of one run'],
  constraints: ["[{ metric: 'memory_gb', atMost: 80 }]", 'a run that breaks one is no gain'],
  variables: ["['HF_HOME']", 'environment variables that reach the run, beside PATH, HOME, LANG and TMPDIR'],
  devices: ["['0', '1']", 'CUDA_VISIBLE_DEVICES of each slot'],
  candidates: ["{ file: 'candidates.jsonl' }", 'what a campaign chooses from; or { program } or { cards }'],
}

/** As a JavaScript literal, short values on one line. */
function indented(value: unknown): string {
  const short = literal(value, null)
  return short.length <= 80 ? short : literal(value, '  ').replaceAll('\n', '\n  ')
}

function literal(value: unknown, indent: string | null): string {
  const text = indent === null ? JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ') : JSON.stringify(value, null, 2)
  return text.replace(/"([A-Za-z_]\w*)":/g, '$1:')
}
