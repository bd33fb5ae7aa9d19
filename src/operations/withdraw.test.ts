/** What was imported can be listed and left out again, records of Almanac like all others. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environments } from './environments.ts'
import { exportRecords } from './export.ts'
import { importFolder, right, sweep } from './import-folder.ts'
import { inProcess } from './in-process.ts'
import { withdraw } from './withdraw.ts'

const { path, write, importing, refusal, listed, sentences, known, ledger } = importFolder()

describe('records that were exported', () => {
  test('are known as what they came from, can be named, and withdrawn', async () => {
    write('sweep.csv', sweep)
    await importing(right)
    await exportRecords.run({ path: 'records.jsonl' }, inProcess(path()))
    expect(await importing({ path: 'records.jsonl' })).toMatchObject({ added: 0 })
    rmSync(join(path(), '.almanac'), { recursive: true })

    expect(await importing({ path: 'records.jsonl' })).toMatchObject({ added: 5 })
    expect(await importing({ path: 'records.jsonl' })).toMatchObject({ added: 0, known: 5 })
    expect((await known()).map(({ records, imports }) => [records, imports.map(({ source }) => source)])).toEqual([
      [3, ['records.jsonl']],
    ])
    expect(await sentences('sweep.csv')).toEqual(['lr=0.2', 'steps=900', 'lr=0.2, steps=900'])
    expect(await refusal(right)).toContain('sweep.csv has these rows already, read as records of Almanac')
    expect(await withdraw.run({ path: 'records.jsonl' }, inProcess(path()))).toMatchObject({ rows: 5 })
    expect(await importing(right)).toMatchObject({ added: 5 })
    expect((await listed()).flatMap(({ runs }) => runs)).toHaveLength(4)
  })
})

describe('withdraw', () => {
  test('leaves out what came from a source, which need not be there any more, or into an environment', async () => {
    write('sweep.csv', sweep)
    await importing(right)
    rmSync(join(path(), 'sweep.csv'))
    const withdrawn = await withdraw.run({ path: 'sweep.csv' }, inProcess(path()))
    expect(withdrawn).toMatchObject({ rows: 5, environments: ['sweep.csv'], sources: ['sweep.csv'] })
    expect(withdraw.text(withdrawn, { width: 100, styling: (_, words) => words })).toContain(
      'To have them again:\n  almanac import sweep.csv --column lr=option steps=option',
    )
    expect(await known()).toEqual([])
    await expect(withdraw.run({ path: 'sweep.csv' }, inProcess(path()))).rejects.toThrow(
      'Nothing that counts was imported from sweep.csv',
    )
    write('sweep.csv', sweep)
    expect(await importing({ path: 'sweep.csv', as: 'mine' })).toMatchObject({ added: 5, known: 0 })
    expect(await withdraw.run({ environment: 'mine' }, inProcess(path()))).toMatchObject({ rows: 5 })
    await using opened = await ledger()
    expect(await opened.recordsOf({ withoutRuns: true })).toEqual([])
  })

  test('the list of environments names the metric, the source, what was said of it, and what can be done next', async () => {
    write('sweep.csv', sweep)
    await importing(right)
    const listed = await environments.run({}, inProcess(path()))
    const day = listed.environments[0]!.imports[0]!.importedAt.slice(0, 10)
    expect(environments.text(listed, { width: 100, styling: (_, words) => words }).replaceAll(day, 'DAY')).toBe(
      [
        'environment  metric                 records  last imported',
        'sweep.csv    F1 (higher is better)        3  sweep.csv, DAY',
        '',
        'sweep.csv: sweep.csv was read with --column lr=option steps=option',
        'The records of one: almanac records --environment sweep.csv',
        'To leave out again what was imported: almanac withdraw --environment sweep.csv',
      ].join('\n'),
    )
  })

  test('of two logs with one name, each is told by where it lies', async () => {
    const lines = (name: string) => [
      'commit\tval_bpb\tstatus\tdescription',
      `${name}1\t1\tkeep\tbaseline`,
      `${name}2\t0.9\tkeep\twider`,
    ]
    for (const name of ['a', 'b']) {
      mkdirSync(join(path(), name))
      write(`${name}/results.tsv`, lines(name))
      await importing({ path: `${name}/results.tsv`, as: name })
    }
    expect((await known()).flatMap(({ imports }) => imports.map(({ source }) => source))).toEqual([
      'a/results.tsv',
      'b/results.tsv',
    ])
    await withdraw.run({ path: 'a/results.tsv' }, inProcess(path()))
    expect((await known()).map(({ name }) => name)).toEqual(['b'])
  })
})
