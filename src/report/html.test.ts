import fc from 'fast-check'
import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import type { ExperimentRecord } from '../experiment/record.ts'
import { renderReport } from './html.ts'
import type { ReportData } from './report-data.ts'
import { hostileTexts, sampleReport } from './sample-report.ts'

/** What a browser would show: the text of the body. */
function bodyText(page: string): string {
  return (parseHTML(page).document.body.textContent ?? '').replaceAll('\u00a0', ' ')
}

/** Every element that the report may be made of; anything else got in. */
const ownElements = new Set(
  `html head meta title style body header main footer section p h1 h2 h3 b bdi br dl div dt dd span figure figcaption ul li ol
  table thead tbody tr th td details summary pre code svg g path line circle rect text`.split(/\s+/),
)

function expectSound(page: string): void {
  const { document } = parseHTML(page)
  for (const element of document.querySelectorAll('*')) {
    const name = element.tagName.toLowerCase()
    expect(ownElements.has(name), `element <${name}>`).toBe(true)
    if (name === 'title') expect(element.closest('svg.plot, head')).not.toBeNull()
    for (const { name: attribute, value } of element.attributes) {
      expect(attribute).not.toMatch(/^on|^src|^srcset|href|^action|^background$|^xlink/i)
      expect(value).not.toMatch(/javascript:|url\(|NaN|undefined|Infinity/i)
    }
  }
  expect(document.querySelectorAll('style')).toHaveLength(1)
  expect(document.querySelectorAll('meta')).toHaveLength(5)
  expect(document.querySelector('style')!.textContent).not.toMatch(/url\(|@import|<\//)
  expect(document.body.textContent).not.toMatch(/\bNaN\b|\bundefined\b|\bInfinity\b|\[object/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  expect(page.isWellFormed()).toBe(true)
  expectBalanced(page)
}

/** Every start tag has its end tag in order. linkedom repairs silently, so this reads the bytes. */
function expectBalanced(page: string): void {
  const open: string[] = []
  const withoutStyle = page.replace(/<style>[\s\S]*?<\/style>/, '')
  for (const [, end, name, rest] of withoutStyle.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:[^>"]|"[^"]*")*)>/g)) {
    if (['meta', 'br'].includes(name!) || rest!.endsWith('/')) continue
    if (end === '') open.push(name!)
    else expect(open.pop()).toBe(name)
  }
  expect(open).toEqual([])
}

test('the name of the environment stands below the title only where the title is another', () => {
  const data = sampleReport(7, { records: 1 })
  const deck = (changed: Partial<ReportData>) =>
    parseHTML(renderReport({ ...data, ...changed })).document.querySelector('.deck')!.textContent
  const { name, description } = data.environment.family
  expect(deck({})).toBe(`${name}. ${description}`)
  expect(deck({ title: name })).toBe(description)
})

test('the report has its sections, a drawing for each figure, and a row for each candidate', () => {
  const data = sampleReport(7, { records: 32 })
  const page = renderReport(data)
  expectSound(page)
  const { document } = parseHTML(page)
  expect([...document.querySelectorAll('h2')].map(heading => heading.textContent)).toEqual([
    'Best gain by run',
    'Forecast against measured gain',
    'Candidates',
    'Rounds',
    'Where the time went',
    'Environment',
  ])
  expect(document.querySelectorAll('.records tr .sentence')).toHaveLength(32)
  const drawings = [...document.querySelectorAll('[role=img]')]
  expect(drawings).toHaveLength(3)
  for (const drawing of drawings) {
    expect(drawing.getAttribute('aria-label')).toMatch(/\d/)
    expect(drawing.querySelectorAll('svg.plot')).toHaveLength(2)
  }
  const measured = data.records.filter(record => record.measured !== null).length
  const count = (drawing: number, selector: string) => drawings[drawing]!.querySelectorAll(`.wide ${selector}`).length
  const marks = (drawing: number) =>
    count(drawing, 'g[aria-label=dot] title') + count(drawing, 'g[aria-label=text] title')
  expect(marks(0)).toBe(32)
  expect(marks(1)).toBe(measured)
  expect(count(2, 'g[aria-label=bar] rect')).toBe(data.runs.length)
  expect(drawings[0]!.textContent).toContain('gain in val_bpb (bits per byte)')
  expect(bodyText(page)).toContain('already run as record 102')
  expect(bodyText(page)).toContain('parameters at most 1.25 times the reference’s')
})

test('headline figures say how sure they are', () => {
  const text = bodyText(renderReport(sampleReport(7, { records: 32 })))
  expect(text).toMatch(
    /32 candidates tried: \d+ better than the reference, \d+ worse, \d+ too close to call, \d+ failed/,
  )
  expect(text).toMatch(/Spearman, 95 % interval \[[+−]0\.\d\d, [+−]0\.\d\d\], n = \d+/)
  expect(text).toMatch(/\d+ of \d+ measured gains inside/)
  const few = bodyText(renderReport(sampleReport(7, { records: 4 })))
  expect(few).toMatch(/\d forecasts with a measured gain: too few to say/)
  expect(few).not.toContain('Spearman')
})

test('the same data gives the same bytes', () => {
  const pages = [1, 2].map(() => renderReport(sampleReport(11, { promoted: true })))
  expect(pages[0]).toBe(pages[1])
})

test('hostile text stays text, wherever it stands, and is bounded', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: hostileTexts.length }), fc.boolean(), (seed, promoted) => {
      const page = renderReport(sampleReport(seed, { hostile: true, records: 24, promoted }))
      expectSound(page)
      expect(page).not.toMatch(/<(script|img|base|a|iframe|object|form|link)\b/i)
      expect(page.length).toBeLessThan(400_000)
      const text = bodyText(page)
      expect(text).toContain('</script><script>alert(1)</script>')
      expect(text).toContain('<img src=x onerror=alert(1)>')
      expect(text).toContain('[U+202E]gnorw si siht[U+2069] [U+0000][U+001B][2J[U+007F]')
      expect(text).toContain('more characters)')
    }),
    { numRuns: 4 },
  )
})

test('any text at all stays text', () => {
  const data = sampleReport(3, { records: 2, failures: 0 })
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), sentence => {
      const records = data.records.map(record => ({
        ...record,
        intervention: { ...record.intervention, sentence, tags: [sentence] },
      }))
      expectSound(renderReport({ ...data, records, title: sentence }))
    }),
    { numRuns: 15, examples: hostileTexts.map(text => [text] as [string]) },
  )
})

test.each<[string, ReportData, RegExp]>([
  ['no records', sampleReport(1, { records: 0 }), /No candidate has been tried yet/],
  ['one record', sampleReport(1, { records: 1, failures: 0 }), /1 candidate tried/],
  ['all failed', sampleReport(1, { records: 6, failures: 1 }), /All 6 candidates so far failed; a failure has no gain/],
  [
    'all gains equal',
    sampleReport(1, { records: 15, failures: 0, equal: true }),
    /no rank correlation: forecasts or gains are all equal/,
  ],
  ['one seed', sampleReport(1, { records: 12, seeds: 1 }), /1 of 1/],
  ['no forecasts', { ...sampleReport(1), forecasts: new Map() }, /No forecast was stored before these runs/],
  [
    'no lineage, campaigns or times',
    { ...sampleReport(1), lineage: [], campaigns: [], runs: [] },
    /No version is known/,
  ],
  ['a campaign without rounds', { ...sampleReport(1), campaigns: [{ id: 4, rounds: [] }] }, /No round has begun/],
])('%s', (_, data, sentence) => {
  const page = renderReport(data)
  expectSound(page)
  expect(bodyText(page)).toMatch(sentence)
})

test('an environment with nothing to tell, still running, and imported runs without times', () => {
  const data = sampleReport(5, { records: 5 })
  const { environment } = data
  const records = data.records.map(
    (record, index): ExperimentRecord =>
      index > 1
        ? record
        : {
            ...record,
            runs: record.runs.map(run => ({ ...run, outcome: null })),
            outcome: null,
            measured: null,
            verdict: null,
          },
  )
  const bare: ReportData = {
    ...data,
    records,
    environment: {
      ...environment,
      family: {
        ...environment.family,
        description: '',
        metrics: [{ name: 'loss', direction: 'minimize' }],
        constraints: [],
        command: null,
        budget: {},
        data: [],
      },
      version: {
        ...environment.version,
        reference: { configuration: null, commit: null, tree: null, code: null, label: 'row 12' },
      },
    },
    runs: data.runs.map(run => ({ ...run, startedAt: null, finishedAt: null, seconds: null, slot: null })),
  }
  const page = renderReport(bare)
  expectSound(page)
  const text = bodyText(page)
  expect(text).toContain('3 candidates tried')
  expect(text).toContain('2 more running')
  expect(text).toContain('gain in loss')
  expect(text).toContain('row 12')
  expect(text).toMatch(/\d+ runs of unknown duration not counted/)
})

test('candidates never run are counted, not listed; cancelled ones are not running', () => {
  const data = sampleReport(5, { records: 6, failures: 0 })
  const none = { outcome: null, measured: null, verdict: null }
  const records = data.records.map((record, index): ExperimentRecord => {
    if (index < 2) return { ...record, ...none, runs: [] }
    if (index > 2) return record
    return {
      ...record,
      ...none,
      runs: record.runs.map(run => ({ ...run, outcome: { ...run.outcome!, kind: 'cancelled' } })),
    }
  })
  const page = renderReport({ ...data, records })
  expect(parseHTML(page).document.querySelectorAll('.records .sentence')).toHaveLength(4)
  const text = bodyText(page)
  expect(text).toContain('3 candidates tried')
  expect(text).not.toContain('running.')
  expect(text).toContain('2 more candidates written down but never run')
  expect(text).toContain('cancelled')
})

test('numbers that are not finite never reach a scale or the page', () => {
  const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 1e300, -1e-300, 0.01)
  fc.assert(
    fc.property(odd, odd, odd, odd, (gain, standardError, quantile, seconds) => {
      const data = sampleReport(9, { records: 6, failures: 0 })
      const measured = { gain, standardError: Math.abs(standardError), degreesOfFreedom: 3, probabilityBetter: null }
      const records = data.records.map((record, index) => (index % 2 === 0 ? { ...record, measured } : record))
      const forecasts = new Map(
        [...data.forecasts].map(([id, forecast]) => [
          id,
          { ...forecast, quantiles: [quantile, 0, 0, 0, quantile] as const, finishes: gain },
        ]),
      )
      const runs = data.runs.map(run => ({ ...run, seconds }))
      expectSound(renderReport({ ...data, records, forecasts, runs, overheadSeconds: seconds }))
    }),
    { numRuns: 15 },
  )
})
