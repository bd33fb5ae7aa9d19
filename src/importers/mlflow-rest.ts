/**
 * An MLflow server, asked over its REST interface: experiments, then their runs, page by page. Histories of metrics are asked for only
 * where the lowest or highest value is wanted.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ImportOptions } from './importer.ts'
import { askMlflow, type MlflowServer } from './mlflow-request.ts'
import { isFiniteValue, type MetricChoice, type MlflowRun, metricChoice, trackedMlflow } from './mlflow-run.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'

const runsAPage = 500
const pointsAPage = 25_000
const mostRepeats = 10

/** Integers of 64 bits are texts in the JSON of MLflow's protocol buffers, and so are NaN and infinities. */
const number = z.union([
  z.custom<number>(value => typeof value === 'number'),
  z.string().transform(text => Number(text.replace(/^(-?)inf$/i, '$1Infinity'))),
])
const keyed = <Value extends z.ZodType>(value: Value) => z.array(z.object({ key: z.string(), value })).optional()
const page = { next_page_token: z.string().optional() }

const experimentsAnswer = z.object({
  experiments: z
    .array(
      z.object({
        experiment_id: z.string(),
        name: z.string().optional(),
        lifecycle_stage: z.string().optional(),
        tags: keyed(z.string().optional()),
      }),
    )
    .optional(),
  ...page,
})
const runAnswer = z.object({
  info: z.object({
    run_id: z.string().optional(),
    run_uuid: z.string().optional(),
    run_name: z.string().optional(),
    status: z.string().optional(),
    lifecycle_stage: z.string().optional(),
    start_time: number.optional(),
    end_time: number.optional(),
  }),
  data: z
    .object({
      metrics: keyed(number.optional()),
      params: keyed(z.string().optional()),
      tags: keyed(z.string().optional()),
    })
    .optional(),
})
const runsAnswer = z.object({ runs: z.array(runAnswer).optional(), ...page })
const historyAnswer = z.object({ metrics: z.array(z.object({ value: number.optional() })).optional(), ...page })

/**
 * Whether an MLflow server answers there. Asked without a token, which only a server that the user means may see. Throws a sentence
 * where nothing answers at all.
 */
export async function isMlflowServer(url: URL): Promise<boolean> {
  if (!/^https?:$/.test(url.protocol)) return false
  const server = { base: baseOf(url), authorization: null, signal: null }
  try {
    experimentsAnswer.parse(
      await askMlflow(server, 'POST', 'experiments/search', { max_results: 1 }, { seconds: 10, tries: 1 }),
    )
    return true
  } catch (error) {
    const { message } = error as Error
    if (message.includes('cannot be reached')) throw error
    // What asks for a token, or is busy, tells nothing; then the address has to.
    return /wants a token|answers (429|5\d\d)/.test(message) && /mlflow|#\/experiments/i.test(url.href)
  }
}

/** One for each experiment; only one where the address names it (`…/#/experiments/3`). Throws a sentence where the server refuses. */
export async function readMlflowServer(url: URL, options: ImportOptions): Promise<TrackedExperiment[]> {
  const authorization = authorizationFor(url, options.token)
  const server = { base: baseOf(url), authorization, signal: options.signal ?? null }
  const wanted = /experiments\/(\d+)/.exec(url.hash)?.[1]
  const choice = metricChoice(options)
  const read: TrackedExperiment[] = []
  const names: string[] = []
  let rows = 0
  const experiments = pages(server, 'POST', 'experiments/search', { max_results: 1000 }, experimentsAnswer)
  for await (const { experiments: found = [] } of experiments) {
    for (const { experiment_id, name, lifecycle_stage, tags } of found) {
      if (lifecycle_stage === 'deleted' || (wanted !== undefined && experiment_id !== wanted)) continue
      names.push(name ?? experiment_id)
      if (!isWanted(name, options.environment)) continue
      const runs: MlflowRun[] = []
      const query = { experiment_ids: [experiment_id], run_view_type: 'ALL', max_results: runsAPage }
      for await (const { runs: some = [] } of pages(server, 'POST', 'runs/search', query, runsAnswer)) {
        for (const run of some) runs.push(await mlflowRun(server, run, choice))
        options.progress?.(rows + runs.length)
      }
      rows += runs.length
      if (runs.length > 0) read.push(trackedMlflow({ name: name ?? null, tags: mapOf(tags, ''), runs }, options))
    }
  }
  if (read.length === 0 && options.environment !== undefined) {
    throw new Error(`${url.host} has no runs of "${options.environment}"; its experiments are ${names.join(', ')}`)
  }
  return read
}

/** By the experiment's name, or by that of the environment it becomes (`SOURCE/NAME`): the runs of others are not asked for. */
function isWanted(name: string | undefined, environment: string | undefined): boolean {
  return environment === undefined || name === environment || environment.endsWith(`/${name}`)
}

/** Where the interface begins, below the address that a browser shows. */
function baseOf(url: URL): URL {
  const base = new URL(url.origin)
  base.pathname = url.pathname.replace(/\/(api\/2\.0\/mlflow\b.*|index\.html)?$/, '/').replace(/([^/])$/, '$1/')
  return base
}

/** The token, or the name and password in the address. */
function authorizationFor(url: URL, token: string | undefined): string | null {
  if (token) return `Bearer ${token}`
  if (url.username === '') return null
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

async function* pages<Answer extends { next_page_token?: string | undefined }>(
  server: MlflowServer,
  method: 'GET' | 'POST',
  path: string,
  query: Readonly<Record<string, unknown>>,
  answer: z.ZodType<Answer>,
): AsyncGenerator<Answer> {
  const tokens = new Set<string>()
  const contents = new Set<string>()
  let repeats = 0
  let token: string | undefined
  for (;;) {
    const values = token === undefined ? query : { ...query, page_token: token }
    const said = await askMlflow(server, method, path, values)
    const parsed = answer.safeParse(said)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      throw new Error(
        `${server.base.origin} does not answer like an MLflow server: ${path} has ${issue?.path.join('.')}: ${issue?.message}`,
      )
    }
    yield parsed.data
    token = parsed.data.next_page_token || undefined
    if (token === undefined) return
    // A server that goes round in a circle may still make up a new token each time; a few empty pages in between are none.
    const content = contentOf(said)
    if (contents.has(content)) repeats++
    if (tokens.has(token) || repeats > mostRepeats) {
      throw new Error(`${server.base.origin} gives the same page of ${path} again and again`)
    }
    tokens.add(token)
    contents.add(content)
  }
}

/** Of a page, without the token of the next. */
function contentOf(page: unknown): string {
  const text = JSON.stringify(page, (key, value) => (key === 'next_page_token' ? undefined : value))
  return createHash('sha256').update(text).digest('hex')
}

async function mlflowRun(
  server: MlflowServer,
  { info, data }: z.infer<typeof runAnswer>,
  choice: MetricChoice | null,
): Promise<MlflowRun> {
  const id = info.run_id ?? info.run_uuid ?? ''
  const metrics = new Map(mapOf<number>(data?.metrics, Number.NaN))
  if (choice && metrics.has(choice.key)) {
    const value = await chosenValue(server, id, choice)
    if (value !== null) metrics.set(choice.name, value)
  }
  const tags = mapOf(data?.tags, '')
  return {
    id,
    name: info.run_name ?? tags.get('mlflow.runName') ?? null,
    status: info.status ?? null,
    isDeleted: info.lifecycle_stage === 'deleted',
    startedAt: info.start_time ?? null,
    endedAt: info.end_time ?? null,
    sourceVersion: null,
    params: mapOf(data?.params, ''),
    tags,
    metrics,
  }
}

async function chosenValue(server: MlflowServer, id: string, { key, choice }: MetricChoice): Promise<number | null> {
  const query = { run_id: id, metric_key: key, max_results: pointsAPage }
  let chosen: number | null = null
  for await (const { metrics = [] } of pages(server, 'GET', 'metrics/get-history', query, historyAnswer)) {
    for (const { value } of metrics) {
      if (value === undefined || !isFiniteValue(value)) continue
      if (chosen === null || (choice === 'min' ? value < chosen : value > chosen)) chosen = value
    }
  }
  return chosen
}

function mapOf<Value>(
  items: readonly { readonly key: string; readonly value?: Value | undefined }[] | undefined,
  empty: Value,
): Map<string, Value> {
  return new Map((items ?? []).map(({ key, value }) => [key, value ?? empty]))
}
