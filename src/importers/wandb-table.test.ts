import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ImportOptions } from './importer.ts'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { readWandbTable } from './wandb-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-wandb-table-'))
afterAll(() => rmSync(folder, { recursive: true }))

function table(text: string, options: ImportOptions = {}): Promise<TrackedExperiment[]> {
  writeFileSync(join(folder, 'export.csv'), text)
  return readWandbTable(sourceOf('export.csv', folder), options)
}

const runsPage = `"Name","State","Notes","User","Tags","Created","Runtime","Sweep","lr","batch_size","optimizer","train/loss","val_acc","_step"
"third","crashed","-","ada","","2023-11-14T23:00:00.000Z","10","","1","64","sgd","","","3"
"second","finished","doubles it","ada","wide, late","2023-11-14T22:30:00.000Z","","","0.2","32","adam","NaN","0.71234567","9"
"first","finished","a ""quoted"" note,
in two lines","ada","baseline","2023-11-14T22:13:20.000Z","90","","0.1","32","adam","0.5","0.7","9"
"first","running","","ada","","2023-11-14T23:30:00.000Z","5","","0.1","32","adam","0.9","","1"
`

describe('tables exported of W&B', () => {
  test('the CSV of the runs page: what was set and what was measured is a guess', async () => {
    const [experiment] = await table(runsPage)
    expect(experiment!.guesses[0]).toBe(
      'the table does not say which columns are results: train/loss, val_acc count as results, lr, batch_size, optimizer as what was set',
    )
    expect(experiment!.runs).toMatchObject([
      {
        id: 'first',
        kind: 'finished',
        configuration: { lr: 0.1, batch_size: 32, optimizer: 'adam' },
        metrics: { 'train/loss': 0.5, val_acc: 0.7 },
        text: 'a "quoted" note,\nin two lines',
        isBaseline: true,
        startedAt: '2023-11-14T22:13:20.000Z',
        finishedAt: '2023-11-14T22:14:50.000Z',
      },
      {
        id: 'second',
        tags: ['wide', 'late'],
        metrics: { val_acc: 0.71234567 },
        notFinite: ['train/loss'],
        seconds: null,
      },
      {
        id: 'third',
        kind: 'crashed',
        status: 'crashed',
        text: null,
        reason: 'W&B lost it: it ended without saying so',
      },
    ])
    expect(experiment!.unusable).toMatchObject([{ place: 'run first 2', reason: 'has not ended: W&B says running' }])
    expect(JSON.stringify(experiment)).not.toContain('ada"')
    const [kept] = await table(runsPage, { keepPersonal: true })
    expect(kept!.runs[0]!.note).toBe('user: ada')
  })

  test('a state that nobody knows is no outcome', async () => {
    const [experiment] = await table(runsPage.replaceAll('"crashed"', '"constructor"'))
    expect(experiment!.unusable.map(({ reason }) => reason)).toContain('has not ended: W&B says constructor')
  })

  test('how far a run came was measured and not set', async () => {
    const rows = runsPage.replace('"_step"', '"epoch"')
    const [experiment] = await table(rows)
    expect(experiment!.runs.map(({ configuration }) => Object.keys(configuration))).not.toContainEqual(
      expect.arrayContaining(['epoch']),
    )
    expect(experiment!.runs.map(({ metrics }) => metrics['epoch'])).toEqual([9, 9, 3])
  })

  test('what the caller says of columns counts', async () => {
    const columns = { metric: 'batch_size', option: 'val_acc', ignore: 'train/loss\nlr' }
    for (const options of [{ columns }, { columns, metric: { name: 'batch_size' } }]) {
      const [experiment] = await table(runsPage, options)
      expect(experiment!.objective).toEqual({ name: 'batch_size', direction: null })
      expect(experiment!.runs[0]!.metrics).toEqual({ batch_size: 32 })
      expect(experiment!.runs[0]!.configuration).toEqual({ optimizer: 'adam', val_acc: 0.7 })
    }
  })

  test("the CSV of the interface's script has Python's dictionaries in its cells", async () => {
    const [experiment] = await table(`,summary,config,name
0,"{'loss': 0.5, '_timestamp': 1700000100.5, '_runtime': 60.5, 'best': {'loss': 0.4}, '_wandb': {'runtime': 60}}","{'lr': 0.1, 'betas': (0.9, 0.99), 'name': ""it's"", 'flag': True, 'path': PosixPath('a, b'), 'none': None}",second
1,"{'loss': nan, 'table': <Table at 0x7f, {1}>, '_timestamp': 1700000000.0, '_runtime': 10}","{'lr': 1e-05}",first
2,"{'loss': ","{}",torn
`)
    expect(experiment!.runs).toMatchObject([
      {
        id: 'first',
        configuration: { lr: 0.00001 },
        metrics: {},
        notFinite: ['loss'],
        startedAt: '2023-11-14T22:13:10.000Z',
      },
      {
        id: 'second',
        configuration: { lr: 0.1, betas: [0.9, 0.99], name: "it's", flag: true, path: "PosixPath('a, b')", none: null },
        metrics: { loss: 0.5, 'best.loss': 0.4 },
        startedAt: '2023-11-14T22:14:00.000Z',
        finishedAt: '2023-11-14T22:15:00.500Z',
      },
    ])
    expect(experiment!.unusable).toMatchObject([
      { place: 'line 4', reason: 'its summary is no dictionary that can be read' },
    ])
    expect(experiment!.guesses).toEqual(['the table has no column state: every run counts as finished'])
  })

  test('the CSV of a chart is refused, with what to export instead', async () => {
    const chart = '"Step","first - loss","first - loss__MIN","first - loss__MAX"\n"0","0.9","0.9","0.9"\n'
    await expect(table(chart)).rejects.toThrow(
      'export.csv is the export of a chart: a curve a column, and nothing of what was set; export the table of runs instead',
    )
    await expect(readSource(sourceOf('export.csv', folder), {})).rejects.toThrow('is the export of a chart')
    await expect(table('a,b\n1,2\n')).rejects.toThrow('has not the columns of a table')
  })

  test('import as a history', async () => {
    await table(runsPage)
    const { importer, histories } = await readSource(sourceOf('export.csv', folder), {})
    expect(importer.name).toBe('wandb')
    expect(histories[0]!.source).toBe('export.csv')
    expect(histories[0]!.rows.map(({ role }) => role)).toEqual(['reference', 'tried', 'tried'])
  })
})
