import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ImportOptions } from './importer.ts'
import { isMlflowTable, readMlflowTable } from './mlflow-table.ts'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-mlflow-table-'))
afterAll(() => rmSync(folder, { recursive: true }))
const source = (text: string) => {
  writeFileSync(join(folder, 'runs.csv'), text)
  return sourceOf('runs.csv', folder)
}
const read = (text: string, options: ImportOptions = {}) => readMlflowTable(source(text), options)

/** As pandas writes what `search_runs` gives. */
const search = `,run_id,experiment_id,status,artifact_uri,start_time,end_time,metrics.val/loss,params.opt/lr,params.layers,tags.mlflow.user,tags.mlflow.source.git.commit,tags.mlflow.note.content,tags.stage
0,bbbb,1,FINISHED,/home/ada/x,2023-11-14 22:30:00+00:00,2023-11-14 22:31:00+00:00,0.4,0.2,"[1, 2]",ada,c0ffee0,"a longer, wider one",one
1,aaaa,1,FAILED,/home/ada/x,2023-11-14 22:13:20.500000+00:00,,,0.1,,ada,,,
2,cccc,2,FINISHED,/home/ada/x,2023-11-14 22:40:00+00:00,,0.3,0.1,,ada,,,
`
/** As the user interface downloads it. */
const downloaded = `Start Time,Duration,Run ID,Name,Source Type,Source Name,User,Status,lr,batch_size,val_loss,mlflow.note.content
2023-11-14 22:30:00,1.2min,bbbb,wide,LOCAL,/home/ada/train.py,ada,FINISHED,0.2,64,0.41234567,
2023-11-14 22:13:20,3.4s,aaaa,first,LOCAL,/home/ada/train.py,ada,FINISHED,0.1,32,0.5,
2023-11-14 22:40:00,,cccc,now,LOCAL,/home/ada/train.py,ada,RUNNING,0.1,32,0.9,
`

describe('tables exported of MLflow', () => {
  test('the CSV of search_runs', async () => {
    const experiments = await read(search)
    expect(experiments.map(({ name, runs }) => [name, runs.map(({ id }) => id)])).toEqual([
      ['1', ['aaaa', 'bbbb']],
      ['2', ['cccc']],
    ])
    expect(experiments[0]!.runs).toMatchObject([
      { kind: 'crashed', configuration: { 'opt/lr': 0.1 }, metrics: {}, startedAt: '2023-11-14T22:13:20.500Z' },
      {
        kind: 'finished',
        configuration: { 'opt/lr': 0.2, layers: [1, 2] },
        metrics: { 'val/loss': 0.4 },
        seconds: 60,
        commit: 'c0ffee0',
        text: 'a longer, wider one',
        tags: ['stage=one'],
      },
    ])
    expect(JSON.stringify(experiments)).not.toMatch(/ada|home/)
  })

  test('the CSV of the user interface: what was set and what was measured is a guess', async () => {
    const [experiment] = await read(downloaded)
    expect(experiment!.runs).toMatchObject([
      { id: 'aaaa', configuration: { lr: 0.1, batch_size: 32 }, metrics: { val_loss: 0.5 }, startedAt: null },
      { id: 'bbbb', name: 'wide', configuration: { lr: 0.2, batch_size: 64 }, metrics: { val_loss: 0.41234567 } },
    ])
    expect(experiment!.unusable).toMatchObject([{ place: 'run cccc' }])
    expect(experiment!.guesses[0]).toContain('val_loss count as results, lr, batch_size as what was set')
    expect(JSON.stringify(experiment)).not.toMatch(/ada|home/)
    const [told] = await read(downloaded, { columns: { metric: 'batch_size', ignore: 'val_loss' } })
    expect(told).toMatchObject({ objective: { name: 'batch_size' }, runs: [{ metrics: { batch_size: 32 } }, {}] })
  })

  test('are told from other tables, and import as a history', async () => {
    expect(isMlflowTable(source('run_id,status\n1,FINISHED\n'))).toBe(false)
    await expect(read('a,b\n1,2\n')).rejects.toThrow("runs.csv has not the columns of a table of MLflow's runs")
    const { importer, histories } = await readSource(source(downloaded), {})
    expect(importer.name).toBe('mlflow')
    expect(histories[0]!.rows.map(({ role }) => role)).toEqual(['reference', 'tried'])
  })
})
