/** Tables of sweeps: no text says what was tried, and what was set tells the rows apart. */
import { describe, expect, test } from 'vitest'
import { csvTable } from './results-csv.ts'
import { type TableOptions, tableHistories } from './table-history.ts'

const read = (lines: readonly string[], options: TableOptions = {}) =>
  tableHistories(csvTable(lines.join('\n'), 'sweep.csv'), options)[0]!
const columnsOf = (lines: readonly string[], options: TableOptions = {}) => {
  const { columns, metrics } = read(lines, options)
  return { ...Object.fromEntries(columns!), metrics: metrics.map(({ name }) => name).join(', ') }
}
const seeds = [0, 1]
/** Every combination, twice; `more` comes before and behind what was set and measured. */
const grid = (header: string, row: (rate: number, steps: number, index: number) => string) => {
  const settings = [0.1, 0.2].flatMap(rate =>
    [500, 1000, 2000].flatMap(steps => seeds.map(() => [rate, steps] as const)),
  )
  return [header, ...settings.map(([rate, steps], index) => row(rate, steps, index))]
}

describe('the columns of a sweep', () => {
  test('a number of steps that comes back is an option, and no row is taken for a repeat of another number', () => {
    const lines = grid(
      'lr,steps,F1,throughput',
      (rate, steps, index) => `${rate},${steps},${70 + index / 7},${900 + index}`,
    )
    expect(columnsOf(lines)).toEqual({ options: 'lr, steps (a guess)', metrics: 'F1, throughput' })
    const { rows } = read(lines)
    expect(rows.map(({ role }) => role).filter(role => role === 'reference')).toHaveLength(2)
    expect(rows[4]!.intervention).toMatchObject({ overrides: { steps: 2000 }, sentence: 'steps=2000' })
  })

  test('a name, a state, a person and a remark here and there do not keep it from being one', () => {
    const lines = grid('run,owner,alpha,steps,F1,mem_gb,notes,state,step', (rate, steps, index) => {
      const [state, score] = index === 0 ? ['crashed', ''] : ['finished', 70 + index / 7]
      return `exp-${index},ann,${rate},${steps},${score},3.${index},${index === 3 ? 'on the new node' : ''},${state},${index}`
    })
    expect(columnsOf(lines)).toEqual({
      ended: 'state (a guess)',
      options: 'alpha, steps (a guess)',
      'left out': 'run (names the rows), owner (says who or where), step (counts the rows)',
      metrics: 'F1, mem_gb',
    })
    const { rows, unusable } = read(lines)
    expect(unusable).toEqual([])
    // The first row crashed: what others are changes of is the first that finished, here of the same settings.
    expect(rows.slice(0, 2).map(({ place, role }) => [place, role])).toEqual([
      ['line 3', 'reference'],
      ['line 2', 'reference'],
    ])
    expect(rows.find(({ place }) => place === 'line 5')!.note).toBe('on the new node')
  })

  test('a random search, by place: what stands before the result was set', () => {
    const lines = ['alpha,gain,beside', ...[1, 2, 3, 4, 5].map(n => `0.${n}72635485,${n / 3},${n / 7}`)]
    expect(columnsOf(lines)).toEqual({ options: 'alpha (a guess)', metrics: 'gain, beside' })
  })

  test('names of their own and empty columns are left out with the reason; words that were set are not', () => {
    const lines = [
      'path,empty,optimiser,F1',
      ...[1, 2, 3, 4, 5, 6].map(n => `out/${n},,${n % 2 ? 'adam' : 'sgd'},${n / 3}`),
    ]
    expect(columnsOf(lines)).toEqual({
      options: 'optimiser (a guess)',
      'left out': 'path (a name or a time, another in each row), empty (empty)',
      metrics: 'F1',
    })
  })

  test('what the caller says goes first, and the rest is still guessed', () => {
    const lines = grid('lr,steps,F1,size', (rate, steps, index) => `${rate},${steps},${index / 7},${index}`)
    const columns = { measurement: 'steps', option: 'size' }
    expect(columnsOf(lines, { columns })).toEqual({ options: 'lr, size (a guess)', metrics: 'F1, steps' })
    expect(columnsOf(lines, { metric: { name: 'steps' } })).toMatchObject({ metrics: 'steps, F1, size' })
  })
})

test('the reference of a sweep is the row that is named, by its name or its line', () => {
  const lines = ['name,lr,F1', 'exp-1,0.1,50', 'exp-2,0.2,60', 'exp-3,0.3,70']
  for (const reference of ['exp-2', 'line 3']) {
    expect(read(lines, { reference }).rows.map(({ role, intervention }) => [role, intervention.overrides])).toEqual([
      ['reference', { lr: 0.2 }],
      ['tried', { lr: 0.1 }],
      ['tried', { lr: 0.3 }],
    ])
  }
  expect(() => read(lines, { reference: 'exp-9' })).toThrow(
    'sweep.csv has no row "exp-9" in its name for the reference',
  )
  expect(() => read(['name,F1,status,notes', 'a,1,keep,x', 'b,2,keep,y'], { reference: 'a' })).toThrow(
    'sweep.csv is a log',
  )
})

test('beside a text, numbers that are named like settings count as measured, and that is doubted', () => {
  const lines = ['description,lr,F1,status', 'baseline,0.1,50,keep', 'a higher rate,0.2,60,keep']
  expect(read(lines)).toMatchObject({ doubtful: ['lr'] })
  expect(read(lines, { columns: { option: 'lr' } }).rows[1]!.intervention.overrides).toEqual({ lr: 0.2 })
})
