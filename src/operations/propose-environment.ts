/**
 * What `init` offers for a folder, from what is there: command, metric, results, links. Detection only: it runs nothing and
 * writes nothing, says where each thing was found and why it was taken, and asks what it could not find.
 */
import { basename, resolve } from 'node:path'
import type { ImportedHistory, ImportedRow } from '../importers/history.ts'
import { type NearbyHistory, nearbyHistories } from '../importers/nearby-histories.ts'
import { readSource } from '../importers/read-source.ts'
import { readResultsTsv } from '../importers/results-tsv.ts'
import { sourceOf } from '../importers/source.ts'
import { openRepository } from '../repository/repository.ts'
import { instructionFiles, type ProjectFiles, projectFiles } from './project-files.ts'
import { proposeCommand } from './propose-command.ts'
import { proposeLinks } from './propose-links.ts'
import { type FoundMetric, type ProposedMetric, proposeMetrics } from './propose-metrics.ts'

export interface EnvironmentProposal {
  readonly name: string
  readonly description: string
  /** With placeholders; null where none was found. */
  readonly command: string | null
  /** The first is the objective; empty where none was found. */
  readonly metrics: readonly ProposedMetric[]
  /** The log of this folder, which can be imported: a results table, or another log of one environment. */
  readonly resultsFile: string | null
  /** Other histories that were found here and can be imported. */
  readonly histories: readonly NearbyHistory[]
  /** Ignored by git, and needed by a run. */
  readonly link: readonly string[]
  /** Files that the instructions say not to change: they decide the metric. */
  readonly evaluator: readonly string[]
  /** Whether the command has `{seed}`; without it, repeats are all there is. */
  readonly seedPlaceholder: boolean
  /** Null outside git, and before the first commit. */
  readonly referenceCommit: string | null
}

export interface Found {
  readonly what: string
  readonly where: string
  readonly why: string
}

export interface Proposed {
  readonly proposal: EnvironmentProposal
  readonly found: readonly Found[]
  /** What a person has to say, each a full sentence. */
  readonly questions: readonly string[]
}

export async function proposeEnvironment(directory: string): Promise<Proposed> {
  const files = projectFiles(directory)
  const found: Found[] = []
  const questions: string[] = []

  const command = proposeCommand(files)
  if (command === null)
    questions.push('Which command runs one experiment? No instructions, package script or usual file names one.')
  else {
    found.push({ what: `command: ${command.command}`, where: command.where, why: command.why })
    if (command.takesSeed) found.push({ what: 'seed', where: command.program!, why: 'the program reads one' })
    else
      questions.push(
        'How does the command take a seed? None was found; without {seed} in it, runs with the same code are plain repeats.',
      )
  }

  const nearby = await nearbyHistories(directory)
  const results = resultsTable(files) ?? (await onlyLog(nearby, files))
  if (results)
    found.push({
      what: `results: ${results.source}`,
      where: results.source,
      why: `a log with ${results.rows.length} usable rows`,
    })
  const histories = nearby.filter(({ path }) => path !== results?.source)
  for (const { path, format } of histories)
    found.push({ what: `history: ${path}`, where: path, why: `its format is ${format}` })

  const metrics = proposeMetrics(files, command?.program ?? null, results)
  for (const { name, direction, where, why } of metrics)
    found.push({ what: `metric: ${name}, ${direction ?? 'direction unknown'}`, where, why })
  questions.push(...metricQuestions(metrics, results))

  const links = await proposeLinks(directory)
  for (const { path, why } of links) found.push({ what: `link: ${path}`, where: '.gitignore', why })

  const evaluator = fixedFiles(files, command?.program ?? null)
  for (const { file, where } of evaluator)
    found.push({ what: `evaluator: ${file}`, where, why: 'the instructions say not to change it' })

  const referenceCommit = await headOf(directory)
  if (referenceCommit !== null)
    found.push({ what: `reference: ${referenceCommit.slice(0, 7)}`, where: 'git', why: 'the commit of the head' })

  return {
    proposal: {
      name: nameOf(files, directory),
      description: descriptionOf(files),
      command: command?.command ?? null,
      metrics: metrics.map(({ where: _where, why: _why, ...metric }) => metric),
      resultsFile: results?.source ?? null,
      histories,
      link: links.map(({ path }) => path),
      evaluator: evaluator.map(({ file }) => file),
      seedPlaceholder: command?.takesSeed ?? false,
      referenceCommit,
    },
    found,
    questions,
  }
}

function metricQuestions(metrics: readonly FoundMetric[], results: ImportedHistory | null): string[] {
  const [objective] = metrics
  const column = results?.metrics[0].name
  if (objective === undefined) {
    return column === undefined
      ? [
          'Which number is to become better, and where does a run leave it? Nothing that the program prints looks like one.',
        ]
      : [
          `Where does a run leave ${column}? ${results!.source} has a column for it, but nothing prints it under that name.`,
        ]
  }
  const questions: string[] = []
  if (objective.direction === null)
    questions.push(`Is ${objective.name} better when it is higher or when it is lower? Its name does not tell.`)
  if (column !== undefined && column !== objective.name) {
    questions.push(
      `Is ${objective.name} what ${results!.source} calls ${column}? The program prints the first, the table has the second.`,
    )
  }
  return questions
}

/** The table that can be read, `results.tsv` before others. */
function resultsTable(files: ProjectFiles): ImportedHistory | null {
  const tables = files.names.filter(name => /\.tsv$/i.test(name))
  const rank = (name: string) => (name === 'results.tsv' ? 0 : /result|experiment|log/i.test(name) ? 1 : 2)
  for (const name of tables.sort((a, b) => rank(a) - rank(b))) {
    const text = files.text(name)
    if (text === null) continue
    try {
      const history = readResultsTsv(text, name)
      // One named for results counts, also while it holds only its header.
      if (history.rows.some(isInWords) || rank(name) < 2) return history
    } catch {
      // Not a results table: data in the same format.
    }
  }
  return null
}

/** What an agent keeps a log in; a tracker's runs are imported, and not kept beside the program. */
const logFormats = new Set(['pi', 'csv', 'jsonl'])

/** The nearest log that is of one environment: a file that holds several is no log of this folder alone. */
async function onlyLog(nearby: readonly NearbyHistory[], files: ProjectFiles): Promise<ImportedHistory | null> {
  for (const { path, format } of nearby) {
    if (!logFormats.has(format) || path.replace(/^\.auto\//, '').includes('/')) continue
    const histories = await readSource(sourceOf(path, files.directory), {}, format).catch(() => null)
    const [only, ...others] = histories?.histories ?? []
    if (only !== undefined && others.length === 0 && only.rows.some(isInWords)) return { ...only, source: path }
  }
  return null
}

/** A table of numbers alone may be anything, data too. */
function isInWords({ intervention }: ImportedRow): boolean {
  return intervention.overrides === null
}

/** Files named where the instructions forbid changes. */
function fixedFiles(files: ProjectFiles, program: string | null): { file: string; where: string }[] {
  const fixed = new Map<string, string>()
  for (const { name, text } of instructionFiles(files)) {
    for (const line of text.split('\n')) {
      if (
        !/\b(may not|must not|do not|don['’]t|cannot|can['’]t|never|CANNOT|read-only|not (?:to be )?(?:change|edit|modif)\w*)\b/i.test(
          line,
        )
      )
        continue
      for (const match of line.matchAll(/`([\w./-]+\.\w+)`/g)) {
        const file = match[1]!
        if (
          file !== program &&
          files.names.includes(file) &&
          /\.(py|js|mjs|ts|sh|json|toml)$/.test(file) &&
          !fixed.has(file)
        )
          fixed.set(file, name)
      }
    }
  }
  return [...fixed].map(([file, where]) => ({ file, where }))
}

async function headOf(directory: string): Promise<string | null> {
  try {
    return await (await openRepository(directory)).head()
  } catch {
    return null
  }
}

function nameOf(files: ProjectFiles, directory: string): string {
  const python = /^name\s*=\s*"([^"]+)"/m.exec(files.text('pyproject.toml') ?? '')?.[1]
  const node = /"name"\s*:\s*"([^"]+)"/.exec(files.text('package.json') ?? '')?.[1]
  const name = (python ?? node ?? basename(resolve(directory)))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return name || 'experiment'
}

/** The first sentence of plain prose in the README; mottoes, badges and lists are none. */
function descriptionOf(files: ProjectFiles): string {
  const text = instructionFiles(files).find(({ name }) => /^readme/i.test(name))?.text ?? ''
  const paragraphs = text.split(/\n\s*\n/).map(paragraph => paragraph.replace(/\s+/g, ' ').trim())
  const prose = paragraphs.find(paragraph => /^\p{L}/u.test(paragraph) && paragraph.split(' ').length > 3) ?? ''
  const sentence = /^.{20,}?[.!?](?=\s|$)/.exec(prose)?.[0] ?? prose
  return sentence.length > 200 ? `${sentence.slice(0, 199)}…` : sentence
}
