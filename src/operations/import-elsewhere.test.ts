/** Rows that stand in another environment, under another name or from another place: none counts twice by itself. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importFolder, textOf } from './import-folder.ts'

const { path, write, importing, refusal, known, ledger } = importFolder()

describe('rows that stand in another environment', () => {
  test('another metric is not a second environment of the same name, unless it gets a name of its own', async () => {
    write('runs.csv', ['lr,val_acc,val_loss', '0.1,70,3', '0.2,71,2', '0.3,72,1'])
    await importing({ path: 'runs.csv', metric: 'val_acc' })
    const other = { path: 'runs.csv', metric: 'val_loss' }
    expect(await refusal(other)).toBe(
      'These rows stand in the ledger as runs.csv, about val_acc, and would count twice. To have them as runs.csv about val_loss instead: ' +
        'almanac import runs.csv --metric val_loss --replace; to have both, give this one a name of its own with --as NAME.',
    )
    const both = await importing({ ...other, as: 'by loss' })
    expect(textOf(both)).toContain('its rows stand in runs.csv too; forecasts that learn from both count them twice')
    await importing({ ...other, replace: true })
    expect((await known()).map(({ name, metric }) => [name, metric])).toEqual([
      ['runs.csv', 'val_loss (lower is better)'],
    ])
  })

  test('a copy, a part and a longer version of a log are the same log wherever they lie', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `c${i}\t${1 - i / 1000}\tdiscard\tidea ${i}`)
    const header = ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline']
    write('results.tsv', [...header, ...rows.slice(0, 200)])
    await importing({ path: 'results.tsv' })
    for (const [name, part] of [
      ['copy.tsv', rows.slice(0, 200)],
      ['part.tsv', rows.slice(20, 60)],
      ['longer.tsv', rows],
    ] as const) {
      write(name, [...header, ...part])
      expect(await refusal({ path: name })).toContain(
        'These rows stand in the ledger as results.tsv, and would count twice',
      )
    }
    expect(await refusal({ path: 'part.tsv', replace: true })).toBe(
      '160 rows that came from results.tsv are not in this source, and would be left out with the others. If that is meant: ' +
        'almanac withdraw --environment results.tsv, and then import this one; to have both, give this one a name of its own with --as NAME.',
    )
    write('others.tsv', [...header, ...rows.slice(200)])
    expect(await importing({ path: 'others.tsv' })).toMatchObject({ added: 101 })
  })

  test('what came in before the folder had an environment moves into it, and out again: then its own reference is back', async () => {
    const log = ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider']
    write('results.tsv', log)
    await importing({ path: 'results.tsv' })
    write('almanac.config.json', [
      JSON.stringify({
        name: 'mine',
        command: 'true',
        metrics: [{ name: 'val_bpb', direction: 'minimize', pattern: 'val_bpb: (\\S+)' }],
        reference: { configuration: { depth: 2 } },
        results: 'results.tsv',
      }),
    ])
    expect(await refusal({})).toContain('To have them as mine instead: almanac import results.tsv --replace')
    expect(await importing({ replace: true })).toMatchObject({ added: 2, replaced: 2 })
    expect((await known()).map(({ name, isHere, records }) => [name, isHere, records])).toEqual([['mine', true, 1]])
    const current = async () => {
      await using opened = await ledger()
      const [mine] = await opened.families('mine')
      return (await opened.currentVersion(mine!.id))!
    }
    await importing({ path: 'results.tsv', as: 'theirs', replace: true })
    expect((await known()).map(({ name, records }) => [name, records]).toSorted()).toEqual([
      ['mine', 0],
      ['theirs', 1],
    ])
    expect(await current()).toMatchObject({
      why: 'configured',
      version: { reference: { configuration: { depth: 2 } } },
    })
  })

  test('a log of the same name from another place is not mixed with the first by itself', async () => {
    write('results.tsv', ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider'])
    await importing({ path: 'results.tsv' })
    const elsewhere = join(mkdtempSync(join(path(), 'other-')), 'results.tsv')
    writeFileSync(elsewhere, 'commit\tval_bpb\tstatus\tdescription\nx\t5\tkeep\tbaseline\ny\t4\tkeep\tdeeper\n')
    expect(await refusal({ path: elsewhere })).toContain(
      'came from another place; give these a name of their own with --as NAME, or add them to those with --as results.tsv.',
    )
    expect(await refusal({ path: elsewhere, metric: 'val_bpb', direction: 'maximize' })).toContain(
      'The ledger has another environment called results.tsv',
    )
    expect(await importing({ path: elsewhere, as: 'results.tsv' })).toMatchObject({ added: 2 })
    expect(await known()).toMatchObject([{ name: 'results.tsv', records: 2 }])
  })

  test('one environment that is refused keeps the others of its source out, and a refused replacement changes nothing', async () => {
    write('a.tsv', ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider'])
    write('b.tsv', ['commit\tval_bpb\tstatus\tdescription', 'x\t5\tkeep\tbaseline', 'y\t4\tkeep\tdeeper'])
    await importing({ path: 'a.tsv' })
    await importing({ path: 'b.tsv' })
    const asOther = { path: 'a.tsv', as: 'b.tsv', direction: 'maximize', replace: true } as const
    expect(await refusal(asOther)).toContain('The ledger has another environment called b.tsv')
    expect((await known()).map(({ name, records }) => [name, records])).toEqual([
      ['a.tsv', 1],
      ['b.tsv', 1],
    ])
  })
})
