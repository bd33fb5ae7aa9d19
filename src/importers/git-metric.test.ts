import { describe, expect, test } from 'vitest'
import { readMessage, statementsIn } from './git-message.ts'
import { changesIn } from './git-relative.ts'
import { wordsOfMessage } from './git-sentence.ts'
import { code, leftOut, lines, read, type ScratchCommit, scratchCommits } from './scratch-commits.ts'

const rates = ['0.1', '0.2', '0.3']
/** A change of code in each, with other files or another message. */
const series = (of: (index: number) => Partial<ScratchCommit>): ScratchCommit[] =>
  rates.map((rate, index) => {
    const { message = `rate ${rate}`, files = {} } = of(index)
    return { message, files: { ...code(rate), ...files } }
  })

describe('the metric', () => {
  test('is added up from the changes that messages state, where they state nothing else', async () => {
    const commits: ScratchCommit[] = [
      { message: 'begin', files: code('0.1') },
      { message: 'Fuse the softcap (-1.5s, -20 steps)', files: code('0.2') },
      { message: 'Say so: -1.5s', files: { 'README.md': 'faster\n' } },
      { message: 'Paired heads, +0.5 sec (#12)', files: code('0.3') },
      { message: 'Revert "Paired heads, +0.5 sec (#12)"', files: code('0.2') },
      { message: 'FP8, -1s', files: code('0.4') },
    ]
    const found = await read(commits)
    expect(found.history.metrics).toEqual([{ name: 'seconds', direction: 'minimize', guessed: true }])
    expect(lines(found)).toEqual(['0 reference: 0', '1 kept on 0: -1.5', '3 tried on 1: -1', '5 kept on 1: -2.5'])
    expect(found.history.rows.map(row => row.intervention.sentence)).toEqual([
      'begin',
      'Fuse the softcap (-20 steps)',
      'Paired heads (#12)',
      'FP8',
    ])
    expect(found.history.guesses[0]).toBe(
      `no commit says what seconds is: the changes in seconds that 5 messages state are added up from 0 at commit ${found.hashes[0]!.slice(0, 7)}`,
    )
    const percent = await read(
      ['begin', 'Wider: loss -10%', 'Deeper: loss -20 %'].map((message, index) => ({
        message,
        files: code(`${index}`),
      })),
    )
    expect(percent.history.metrics[0]).toEqual({ name: 'loss', direction: 'minimize', guessed: true })
    expect(lines(percent)).toEqual(['0 reference: 100', '1 kept on 0: 90', '2 kept on 1: 72'])
  })

  test('is what most commits report under a name that says which way is better, and no cost', async () => {
    const found = await read(
      series(index => ({
        message: `Dropout: 0.${index}, accuracy: 0.${5 + index}`,
        files: {
          'out/metrics.json': JSON.stringify({
            seed: index,
            peak_memory_gb: 40 + index,
            test: { accuracy: 0.51 + index / 10 },
          }),
        },
      })),
    )
    expect(found.history.metrics[0]).toEqual({ name: 'accuracy', direction: 'maximize', guessed: true })
    expect(lines(found)).toEqual(['0 reference: 0.51', '1 kept on 0: 0.61', '2 kept on 1: 0.71'])
    expect(found.history.rows[1]!.outcome.metrics).toEqual({ accuracy: 0.61, seed: 1, peak_memory_gb: 41 })
    expect(found.history.rows[1]!.intervention.sentence).toBe('Dropout: 0.1')
  })

  test('is the one asked for, in whatever place it stands', async () => {
    const commits = series(index => ({
      message: `speed ${100 - index} after this`,
      files: { 'results.json': JSON.stringify({ loss: index, quality: { 'f-beta': index * 2 } }) },
    }))
    const options = { metric: { name: 'speed', direction: 'minimize' as const } }
    const asked = await read(commits, options)
    expect(asked.history.metrics[0]).toEqual({ ...options.metric, guessed: false })
    expect(lines(asked)).toEqual(['0 reference: 100', '1 kept on 0: 99', '2 kept on 1: 98'])
    const nested = await read(commits, { columns: { metric: 'results.json:quality.f-beta' } })
    expect(nested.history.metrics[0]).toEqual({ name: 'f-beta', direction: null, guessed: true })
    expect(lines(nested)).toEqual(['0 reference: 0', '1 kept on 0: 2', '2 kept on 1: 4'])
    const matched = await read(commits, { metric: { name: 'left' }, columns: { metric: '/speed (\\d+)/' } })
    expect(lines(matched)).toEqual(['0 reference: 100', '1 kept on 0: 99', '2 kept on 1: 98'])
  })

  test('may stand in any file, which then is no part of a change', async () => {
    const commits = series(index => ({ files: { 'bench/report.md': `first: 7\ntotal: ${9 - index} s\n` } }))
    const found = await read(commits, { columns: { metric: './bench/report.md:/total: ([\\d.]+)/' } })
    expect(lines(found)).toEqual(['0 reference: 9', '1 kept on 0: 8', '2 kept on 1: 7'])
    expect(found.history.rows[1]!.intervention.diff).not.toContain('report.md')
    await expect(read(commits, { columns: { metric: 'a.txt:/total: \\d+/' } })).rejects.toThrow(/has no group/)
    await expect(read(commits, { columns: { metric: 'a.txt:/(/' } })).rejects.toThrow(/is no pattern/)
  })

  test('of a table is its newest row, and a row that names a commit is of that commit', async () => {
    const table = (...rows: string[]) => ({ 'results.csv': `commit,val_bpb,status,note\n${rows.join('\n')}\n` })
    const bpb = ['1', '0.9', '0.8']
    const newest = await read(
      series(index => ({ files: table(...bpb.slice(0, index + 1).map(value => `,${value},keep,x`)) })),
    )
    expect(lines(newest)).toEqual(['0 reference: 1', '1 kept on 0: 0.9', '2 kept on 1: 0.8'])
    const { hashes } = scratchCommits(series(() => ({})))
    const named = hashes.map((hash, index) => `${hash.slice(0, 7)},${bpb[index]},keep,x`)
    const log = await read([
      ...series(() => ({})),
      { message: 'all of them', files: table('baseline,1.2,keep,baseline', ...named, 'deadbee,0.5,discard,gone') },
    ])
    expect(lines(log)).toEqual(lines(newest))
    expect(leftOut(log)).toEqual(['commit 3: touches results and documents only'])
  })

  test('of lines of JSON is in the last, if the commit brought it', async () => {
    const states = ['{"acc":1}', '{"acc":1}\n{"acc":2}', '{"acc":1.0}\n{"acc":2}', '{"acc":1}\n{"acc":2}\n{"acc":3}\n']
    const found = await read(
      states.map((text, index) => ({
        message: `${index}`,
        files: { ...code(`${index}`), 'research_log.jsonl': text },
      })),
    )
    expect(lines(found)).toEqual(['0 reference: 1', '1 kept on 0: 2', '3 kept on 1: 3'])
  })

  test('of an agent stands as JSON at the end of its message', async () => {
    const found = await read(
      series(index => ({
        message: `Idea ${index}\n\nResult: {"status":"keep","total_µs":${30 - index},"parse_µs":5}`,
      })),
    )
    expect(found.history.metrics[0]).toMatchObject({ name: 'total_µs', direction: 'minimize' })
    expect(lines(found)).toEqual(['0 reference: 30', '1 kept on 0: 29', '2 kept on 1: 28'])
    expect(found.history.rows[1]!.intervention.sentence).toBe('Idea 1')
  })

  test('that cannot be found is asked for, with what was found', async () => {
    const talk = series(index => (index === 0 ? { message: 'score: 3' } : {}))
    await expect(read(talk)).rejects.toThrow(
      'trials: no metric in files of results (results.json, metrics.json, results.tsv, …) or messages; found these numbers, in so ' +
        'many commits: score (1), of 3 that change code. Name it with --metric, or say where it stands with --column FILE=metric ' +
        'or FILE:PATH=metric',
    )
    await expect(read(talk, { metric: { name: 'val_bpb' } })).rejects.toThrow('no metric val_bpb in files')
    const one = await read(talk, { metric: { name: 'Score' } })
    expect(lines(one)).toEqual(['0 reference: 3'])
    expect(leftOut(one)).toEqual([1, 2].map(at => `commit ${at}: nothing of Score in its files or its message`))
  })
})

test.each([
  ['val_bpb: 0.9931', { val_bpb: 0.9931 }],
  ['val_loss 1.20 -> 1.10, mfu=41%', { val_loss: 1.1, mfu: 41 }],
  ['validation loss was 2.5', { validation_loss: 2.5 }],
  ['score from 1,200.5 to 1,300.5', { score: 1300.5 }],
  ['latency now 12.5ms', { latency: 12.5 }],
  // Settings, comparisons and prose.
  ['dropout: 0.1, lr=3e-4, heads 8', {}],
  ['prev val_bpb=1.45, baseline loss 2.0', {}],
  ['pass 3 times over the data, error 404', {}],
  ['loss v2.1.3', {}],
  ['val_loss -0.3%, accuracy +0.2', {}],
  ['score -2.5', { score: -2.5 }],
])('the metrics that %j states', (text, expected) => {
  expect(Object.fromEntries(statementsIn(text).map(({ name, value }) => [name, value]))).toEqual(expected)
})

test.each([
  ['Raise the rate (val_loss: 0.91)', 'Raise the rate', 'val_loss: 0.91'],
  ['val_loss 1.0 -> 0.9: raise the rate', 'raise the rate', 'val_loss 1.0 -> 0.9'],
  ['Raise the rate — quality_x 33.2', 'Raise the rate', 'quality_x 33.2'],
  ['quality_x = 33.2', '', 'quality_x = 33.2'],
])('of %j, what was tried', (text, sentence, note) => {
  const metric = text.includes('quality') ? 'quality_x' : 'val_loss'
  const spans = statementsIn(text, metric).filter(({ name }) => name === metric)
  expect(wordsOfMessage(text, spans)).toEqual({ sentence, note })
})

test('texts that are made to take long come to an end', () => {
  for (const piece of ['a', 'val ', 'x=1', '9', '1,', 'loss 1.', '(', ' ', '-1s', '{\n', 'loss: 1 -> ']) {
    const text = piece.repeat(40_000 / piece.length)
    const { text: words } = readMessage(text)
    wordsOfMessage(words, statementsIn(words))
    statementsIn(`loss: ${text}`)
    changesIn(words, 'seconds')
  }
})

test('people are not read, nor what an agent signs with', () => {
  const { text, reverts, subject } = readMessage(
    'revert: wider\n\nThis reverts commit ABCDEF0.\n\n🤖 Generated with a tool\nCo-Authored-By: Ada <ada@example.org>\n(cherry picked from commit 1234567)',
  )
  expect(subject).toBe('revert: wider')
  expect(text).not.toMatch(/Ada|tool/)
  expect(reverts).toEqual({ hash: 'abcdef0', subject: 'wider' })
})
