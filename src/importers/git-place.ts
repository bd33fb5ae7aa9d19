/**
 * Where a user says that the metric stands: in which file of each commit, at which path or behind which pattern.
 */

export interface MetricPlace {
  /** Path relative to the repository's root; null for the commits' messages. */
  readonly file: string | null
  /** Dotted path in JSON, or the column of a table. */
  readonly path: string | null
  /** Its first group is the value; the last match counts. */
  readonly pattern: RegExp | null
}

const fileName = /\.(jsonl?|tsv|csv|txt|log|out|md|ya?ml|toml)$/i

/**
 * `results.json`, `results.json:eval.loss`, `bench.txt:/total: ([\d.]+)/`, or `/score ([\d.]+)/` for messages. Null where the text
 * names no place: then it is the name of the metric.
 */
export function metricPlace(text: string): MetricPlace | null {
  const pattern = /^(?:(.*?):)?\/(.+)\/$/s.exec(text)
  if (pattern !== null) {
    const file = pattern[1] === undefined || /^messages?$/i.test(pattern[1]) ? null : clean(pattern[1])
    return { file, path: null, pattern: compiled(pattern[2]!) }
  }
  const [, file, path] = /^(.*?):(.+)$/s.exec(text) ?? []
  if (file !== undefined) return { file: clean(file), path: path!, pattern: null }
  return fileName.test(text) ? { file: clean(text), path: null, pattern: null } : null
}

function clean(file: string): string {
  return file.replace(/^(\.\/)+/, '')
}

function compiled(source: string): RegExp {
  let pattern: RegExp
  try {
    pattern = new RegExp(source, 'gmu')
  } catch (error) {
    throw new Error(`/${source}/ is no pattern: ${(error as Error).message}`, { cause: error })
  }
  if (new RegExp(`${source}|`, 'u').exec('')!.length > 1) return pattern
  throw new Error(`the pattern /${source}/ has no group: put the number in brackets, as in /score ([\\d.]+)/`)
}
