/**
 * ShinkaEvolve's database (`evolution_db.sqlite`, `programs.sqlite`): a table of programs. A program that is not `correct` ran and is not
 * legal, or did not run at all; a proposal that never became a program was not run.
 */
import { type EvolvedProgram, evolvedRuns } from './evolved-program.ts'
import type { Importer, Source } from './importer.ts'
import { momentOfSeconds } from './moment.ts'
import { parsePythonJson } from './python-json.ts'
import { isSqliteWith, openSqlite, type SqliteRow, textOf } from './sqlite-file.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'

export const shinkaSqlite: Importer = {
  name: 'shinka',
  title: 'ShinkaEvolve (SQLite database)',
  takes: ['reference'],
  recognises: source => source.kind === 'file' && isShinka(source.path),
  read: async (source, options) => trackedHistories([readShinka(source)], source.name, options),
}

/** Its own score, which is always to be raised. */
const objective = { name: 'combined_score', direction: 'maximize' } as const

function isShinka(path: string): boolean {
  if (!isSqliteWith(path, ['programs'])) return false
  using file = openSqlite(path)
  const columns = file.columnsOf('programs')
  return ['code', 'parent_id', 'combined_score', 'correct'].every(column => columns.has(column))
}

/** Throws a sentence where the file cannot be read. */
export function readShinka(source: Source): TrackedExperiment {
  if (source.kind !== 'file') throw new Error(`${source.name} is not a file; name the database of ShinkaEvolve`)
  using file = openSqlite(source.path)
  const programs = Array.from(file.rows('select * from programs order by generation, timestamp, id'), programOf)
  const { runs, unusable } = evolvedRuns(programs)
  return { name: null, description: null, objective, constraints: [], runs, unusable, guesses: [] }
}

function programOf(row: SqliteRow): EvolvedProgram {
  const metadata = objectIn(row['metadata'])
  const word = (name: string) => (typeof metadata[name] === 'string' ? metadata[name].trim() || null : null)
  const stored = row['combined_score']
  const score = typeof stored === 'number' || typeof stored === 'bigint' ? Number(stored) : null
  const notRun =
    word('node_kind') === 'failed_proposal' ? `was not run: ${word('failure_reason') ?? 'no program came of it'}` : null
  const isCorrect = Number(row['correct']) === 1
  const feedback = textOf(row['text_feedback']).trim()
  const metrics = { ...numbersIn(row['private_metrics']), ...numbersIn(row['public_metrics']) }
  const seconds = metadata['evaluation_seconds'] ?? metadata['compute_time']
  const type = word('patch_type')
  return {
    id: textOf(row['id']),
    parent: textOf(row['parent_id']) || null,
    // The first is of those that fill the islands at the start, the second of islands made later.
    copyOf: word('_original_program_id') ?? word('_spawned_from_program_id'),
    generation: Number(row['generation']),
    code: textOf(row['code']),
    language: textOf(row['language']).toLowerCase(),
    end: notRun === null ? endOf(isCorrect, score, feedback, metadata) : null,
    notRun,
    status: isCorrect ? 'correct' : 'incorrect',
    metrics:
      score === null || !Number.isFinite(score) || (!isCorrect && score === 0)
        ? {}
        : { ...metrics, [objective.name]: score },
    storedAt: momentOfSeconds(row['timestamp']),
    seconds: typeof seconds === 'number' ? seconds : null,
    text: [word('patch_name')?.replaceAll('_', ' '), word('patch_description')].filter(Boolean).join(': ') || null,
    note: feedback || null,
    tags: type === null ? [] : [type],
  }
}

/** Where the evaluation failed, it stores the score 0. */
function endOf(
  isCorrect: boolean,
  score: number | null,
  feedback: string,
  metadata: Readonly<Record<string, unknown>>,
): EvolvedProgram['end'] {
  if (isCorrect && (score === null || !Number.isFinite(score)))
    return { kind: 'diverged', reason: `the score is ${score}` }
  if (isCorrect) return { kind: 'finished', reason: null }
  const log = typeof metadata['stderr_log'] === 'string' ? metadata['stderr_log'].trim().split('\n').at(-1)! : ''
  const why = [feedback.split('\n')[0], log].find(text => text) ?? 'ShinkaEvolve calls it incorrect'
  return { kind: score === null || score === 0 ? 'crashed' : 'violated', reason: why.slice(0, 300) }
}

function numbersIn(json: SqliteRow[string] | undefined): Record<string, number> {
  const numbers = Object.entries(objectIn(json)).filter((each): each is [string, number] => Number.isFinite(each[1]))
  return Object.fromEntries(numbers)
}

function objectIn(json: SqliteRow[string] | undefined): Readonly<Record<string, unknown>> {
  try {
    const value = parsePythonJson(textOf(json))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}
