/**
 * Invented report data for the tests of this folder: a seed gives a campaign with plausible gains, failures and
 * forecasts. Nothing here was measured, and nothing outside the tests may use it.
 */
import { type Environment, type Family, familyId, type Reference, versionId } from '../experiment/environment.ts'
import type { OutcomeKind, Run } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'
import type { ExperimentRecord, Forecast, MeasuredGain, Quantiles, Verdict } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import type { CampaignRound, LineageStep, ReportData, RunTime } from './report-data.ts'

export interface SampleOptions {
  readonly records?: number
  readonly seeds?: number
  /** Sentences, tags, options and reasons that try to break out of the page. */
  readonly hostile?: boolean
  /** Share of the records that fail. */
  readonly failures?: number
  /** All gains equal. */
  readonly equal?: boolean
  /** Promote one record half way. */
  readonly promoted?: boolean
}

export const hostileTexts: readonly string[] = [
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  `"onmouseover="alert(1)" '--><!--`,
  'javascript:alert(document.cookie)',
  '[click](javascript:alert(1)) http://example.org/beacon.png',
  '\u202egnorw si siht\u2069 \u0000\u001b[2J\u007f',
  '</style></svg></title></textarea><base href=//example.org><meta http-equiv=refresh content=0>',
  `${'long '.repeat(20_000)}`,
  'x'.repeat(100_000),
  '&lt;b&gt; &amp;amp; &#0; NUL',
  '\ud800 lone surrogate 漢字 👩‍🔬 ‏עברית‏',
  '',
]

const changes: readonly (readonly [string, Json, Json, string, string])[] = [
  [
    'optimiser.kind',
    'adamw',
    'muon',
    'Orthogonalise the matrix updates with Muon: better conditioned steps at the same cost.',
    'optimiser',
  ],
  [
    'schedule.kind',
    'cosine',
    'warm-up-stable-decay',
    'Hold the rate, then decay it over the last fifth: more of the budget at full speed.',
    'schedule',
  ],
  [
    'rate',
    0.003,
    0.0045,
    'Raise the learning rate by half; the curve is still steep at the end of the budget.',
    'rate',
  ],
  [
    'model.activation',
    'swiglu',
    'relu-squared',
    'Square the ReLU instead of gating: fewer parameters, sparser activations.',
    'activation',
  ],
  [
    'model.normaliseQueriesAndKeys',
    false,
    true,
    'Normalise queries and keys so that attention logits stay small early on.',
    'attention',
  ],
  [
    'model.tiedEmbeddings',
    true,
    false,
    'Give the head its own matrix; bytes in and bytes out are different jobs.',
    'embeddings',
  ],
  ['batch', 16, 32, 'Double the batch for a quieter gradient.', 'batch'],
  ['weightDecay', 0.1, 0.02, 'Decay less: the budget is far too short to overfit.', 'regularisation'],
  ['model.logitSoftCap', null, 15, 'Cap the logits softly at 15, as Gemma 2 does, against early spikes.', 'stability'],
  ['clip', 1, 0.25, 'Clip the gradient harder.', 'stability'],
]

function textFor(hostile: boolean, index: number, otherwise: string): string {
  return hostile ? hostileTexts[index % hostileTexts.length]! : otherwise
}

export function sampleReport(seed: number, options: SampleOptions = {}): ReportData {
  const { records: count = 24, seeds = 2, hostile = false, failures = 0.12, equal = false, promoted = false } = options
  const random = seededRandom(seed)
  const family: Family = {
    name: hostile ? '<b onclick=alert(1)>sample</b>' : 'sample language model',
    description: textFor(
      hostile,
      seed,
      'Invented figures that look like byte-level pre-training on two old books, ten seconds a run.',
    ),
    metrics: [
      { name: 'val_bpb', direction: 'minimize', unit: hostile ? '</svg>bits' : 'bits per byte' },
      { name: 'parameters', direction: 'minimize' },
    ],
    constraints: [
      { metric: 'parameters', atMost: 1.25, relativeTo: 'reference' },
      { metric: 'flops', atMost: 1.25, relativeTo: 'reference' },
    ],
    command: 'node train.ts --config {config} --seed {seed} --out {out}',
    budget: { seconds: 60, memoryMegabytes: 1024 },
    evaluator: {},
    data: ['moby-dick', 'state-of-the-union'],
  }
  const id = familyId(family)
  const environmentAt = (configuration: Json, parent: Environment['version']['parent']): Environment => {
    const reference: Reference = { configuration, commit: null, tree: null, code: null }
    return { family, familyId: id, version: { id: versionId(id, reference), familyId: id, reference, parent } }
  }
  const first = environmentAt(
    { rate: 0.003, batch: 16, optimiser: { kind: 'adamw' }, model: { depth: 4, width: 128 } },
    null,
  )
  const second = environmentAt(
    { rate: 0.003, batch: 16, optimiser: { kind: 'muon' } },
    { versionId: first.version.id, interventionId: 1 },
  )

  const records: ExperimentRecord[] = []
  const forecasts = new Map<number, Forecast>()
  const runs: RunTime[] = []
  const slotFree = [20, 20]
  let runId = 0
  const begin = Date.UTC(2026, 0, 5, 9, 0, 0)

  const ranRun = (recordId: number | null, kind: OutcomeKind, seconds: number): Omit<RunTime, 'runId'> => {
    const slot = slotFree[0]! <= slotFree[1]! ? 0 : 1
    const start = slotFree[slot]! + 0.2
    slotFree[slot] = start + seconds
    const at = (offset: number) => new Date(begin + Math.round(offset * 1000)).toISOString()
    return { recordId, outcome: kind, startedAt: at(start), finishedAt: at(start + seconds), seconds, slot }
  }

  for (let repeat = 0; repeat < 5; repeat++)
    runs.push({ runId: ++runId, ...ranRun(null, 'finished', 11 + random.uniform()) })

  for (let index = 0; index < count; index++) {
    const [option, from, to, sentence, tag] = changes[index % changes.length]!
    const expected = 0.02 * random.normal() - 0.01 - (random.uniform() < 0.08 ? 0.4 : 0)
    const forecastMedian = 0.6 * expected + 0.008 * random.normal()
    const spread = 0.006 + 0.012 * random.uniform()
    const quantiles: Quantiles = [-1.28, -0.67, 0, 0.67, 1.28].map(
      z => forecastMedian + z * spread,
    ) as unknown as Quantiles
    const fails = random.uniform() < failures
    const failure = (['crashed', 'diverged', 'timed-out', 'violated'] as const)[random.integer(4)]!
    const kind: OutcomeKind = fails ? failure : 'finished'
    const recordId = 100 + index
    const own: Run[] = []
    for (let repeat = 0; repeat < seeds; repeat++) {
      const seconds = fails ? 2 + 5 * random.uniform() : 10 + 4 * random.uniform()
      const time = { runId: ++runId, ...ranRun(recordId, kind, seconds) }
      runs.push(time)
      own.push({
        id: time.runId,
        versionId: first.version.id,
        interventionId: recordId,
        seed: repeat,
        attempt: 0,
        outcome: {
          kind,
          reason: fails ? textFor(hostile, index, 'exit code 1: loss is not finite at step 40') : null,
          metrics: fails ? {} : { val_bpb: 2.4 - expected, parameters: 800_000 },
          exitCode: fails ? 1 : 0,
          startedAt: time.startedAt,
          finishedAt: time.finishedAt,
          seconds,
          cost: null,
        },
      })
    }
    const noise = 0.004 / Math.sqrt(seeds)
    const gain = equal ? 0.01 : expected + noise * random.normal()
    const measured: MeasuredGain | null = fails
      ? null
      : { gain, standardError: noise, degreesOfFreedom: 12, probabilityBetter: gain > 0 ? 0.97 : 0.03 }
    const verdict: Verdict = fails
      ? 'failed'
      : gain > 2 * noise
        ? 'better'
        : gain < -2 * noise
          ? 'worse'
          : 'inconclusive'
    records.push({
      id: recordId,
      environment: promoted && index >= count / 2 ? second : first,
      intervention: {
        sentence: textFor(hostile, index, sentence),
        overrides: { [option]: to },
        diff:
          index % 5 === 4
            ? `--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-CLIP = 1.0\n+CLIP = 0.25 # ${textFor(hostile, index, 'harder')}\n`
            : null,
        tags: [textFor(hostile, index + 1, tag)],
        origin: 'sample',
      },
      changes: [{ option: textFor(hostile, index + 2, option), from, to: hostile ? textFor(true, index + 3, '') : to }],
      runs: own,
      outcome: kind,
      measured,
      verdict,
    })
    forecasts.set(recordId, {
      quantiles,
      finishes: 0.8 + 0.19 * random.uniform(),
      forecaster: 'kernel',
      forecasterVersion: '1',
      recordIds: [],
    })
  }

  const rounds: CampaignRound[] = Array.from({ length: Math.ceil(count / 8) }, (_, round) => ({
    round: round + 1,
    considered: 16,
    ranBefore: 0,
    dropped:
      round === 1
        ? [
            {
              sentence: textFor(hostile, 0, 'Raise the learning rate by half.'),
              reason: textFor(hostile, 1, 'already run as record 102'),
            },
            {
              sentence: textFor(hostile, 5, 'Set the batch to 16.'),
              reason: 'changes nothing: the reference has batch 16',
            },
          ]
        : [],
    chosen: records.slice(round * 8, round * 8 + 8).map(({ id }, place) => ({
      recordId: id,
      explored: place === 7,
      probability: place === 7 ? 0.11 : 1,
    })),
  }))

  const best = records.find(record => record.verdict === 'better')
  const lineage: LineageStep[] = [{ version: first.version, promoted: null, objective: 2.4, referenceRuns: 5 }]
  if (promoted) {
    lineage.push({
      version: second.version,
      promoted: { sentence: best?.intervention.sentence ?? 'Use Muon.', gain: best?.measured ?? null },
      objective: 2.37,
      referenceRuns: 5,
    })
  }
  return {
    title: hostile ? hostileTexts[0]! : 'Sample campaign',
    generatedAt: '2026-01-05T10:00:00.000Z',
    environment: promoted ? second : first,
    lineage,
    records,
    forecasts,
    campaigns: count === 0 ? [] : [{ id: 1, rounds }],
    runs: count === 0 ? [] : runs,
    overheadSeconds: count * 0.05,
  }
}
