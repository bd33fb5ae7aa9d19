/** What columns and fields are called in the logs that people keep, by what they hold. */

/** By role; the first word that a table has is taken. */
export const columnWords: Readonly<Record<string, readonly string[]>> = {
  commit: ['commit', 'hash', 'sha', 'commit_hash', 'git_commit', 'git_sha', 'git_hash', 'commit_sha', 'revision'],
  status: ['status', 'decision', 'verdict', 'result', 'outcome', 'state', 'action', 'kept'],
  description: [
    'description',
    'desc',
    'change',
    'changes',
    'notes',
    'note',
    'summary',
    'comment',
    'message',
    'details',
  ],
  proposal: ['reasoning', 'hypothesis', 'idea', 'rationale', 'proposal', 'motivation', 'intervention', 'reason'],
  tag: [
    'tag',
    'name',
    'label',
    'experiment',
    'exp',
    'exp_id',
    'experiment_id',
    'experiment_name',
    'run_name',
    'variant',
  ],
  configuration: [
    'config',
    'configuration',
    'params',
    'parameters',
    'hyperparameters',
    'hparams',
    'args',
    'settings',
    'overrides',
  ],
  seed: ['seed', 'random_seed', 'rng_seed'],
  time: ['timestamp', 'time', 'date', 'datetime', 'created', 'created_at', 'finished_at'],
  series: ['environment', 'env', 'study', 'tier', 'track', 'hardware', 'gpu', 'device', 'machine', 'host'],
}

/** Written after the run, where a description stands beside it. */
export const noteWords = new Set(
  'note notes comment comments analysis rollback_reason conclusion learned lesson why next_action_hint'.split(' '),
)
/** Nested fields and flat names of trackers say what a column is: `params.lr`, `config/depth`, `metrics.loss`. */
export const optionPrefix =
  /^(?:(?:params|parameters|config|configuration|hparams|hyperparameters|overrides|args|settings)[./]|params_)/i
const metricPrefix = /^(?:metrics|results|scores|summary)[./]/i

/** Numbers that count rows or say who and where; never a result. */
export const neither = new Set([
  'experiment',
  'exp',
  'step',
  'steps',
  'run',
  'id',
  'run_id',
  'trial',
  'trial_id',
  'iteration',
  'iter',
  'index',
  'row',
  'pr',
  'seed',
  'attempt',
  'round',
])

/** Numbers that may count the rows, or what a run was given: `steps` of 500, 1000 and 2000 are set. */
export function isCounter(name: string): boolean {
  return /^(steps?|iterations?|iters?|rounds?)$/.test(normal(name))
}

/** Named like a size or a share that somebody sets, of which some are measured all the same. */
export function isSettingSize(name: string): boolean {
  return /_(size|weight|decay|coeff?|lambda|steps|dim|length|factor)$/.test(normal(name))
}

const settings =
  /(^|_)(lr|learning_rate|seed|weight_decay|wd|momentum|(adam_)?beta_?[12]?|dropout|eps|epsilon|temperature|batch(_size)?|depth|width|d_model|dim|n?_?(layers?|heads?|embd)|hidden(_size|_dim|_units)?|warm_?up(_steps|_ratio)?|epochs?|grad_clip|n_estimators)$/

/** Names that people give to what they set, also where its numbers never repeat, as in a random search. */
export function isSetting(name: string): boolean {
  return settings.test(normal(name).replaceAll(/[./]/g, '_'))
}

/** A column's name without case and white space. */
export function normal(name: string): string {
  return name
    .trim()
    .replace(/^(?:asi|meta|info)\./, '')
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
}

/** The name without what only says that it is an option or a metric. */
export function bare(name: string): string {
  return name.replace(optionPrefix, '').replace(metricPrefix, '') || name
}

/** -1 where there is none. Without what says that it is an option or a metric, too. */
export function columnNamed(names: readonly string[], wanted: string): number {
  const lower = wanted.toLowerCase()
  const exact = names.findIndex(name => name.toLowerCase() === lower)
  return exact >= 0 ? exact : names.findIndex(name => bare(name).toLowerCase() === lower)
}

/** What a run costs is rarely what it is for: taken for the objective only when there is nothing else. */
export const costs = /mem|vram|gib|_gb|_mb|bytes|cost|usd|time|latency|seconds|size/i
