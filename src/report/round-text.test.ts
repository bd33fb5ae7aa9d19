import { expect, test } from 'vitest'
import { roundLines } from './round-text.ts'

const out = (sentence: string, reason: string, heldBack: boolean) => ({ sentence, reason, heldBack })
const chosen = (sentence: string, explored: boolean, gated: string | null) =>
  ({ sentence, explored, gated, quantiles: [-0.1, 0, 0.1, 0.2, 0.3] }) as const

test('every candidate has its place: by name, with the number that decided; of many the rest is counted', () => {
  const running = Array.from({ length: 10 }, (_, index) =>
    out(`idea ${index}`, `It is running now (record ${index}).`, false),
  )
  const low = 'Its forecast is low (a chance of 0.34 of any gain, and 0.9 is asked for)'
  const worths = [0.02, 0.01, 0, -1, -2].map(worth => ({ sentence: `worth ${worth}`, worth }))
  const lines = roundLines(
    {
      round: 2,
      rounds: 3,
      considered: 30,
      ranBefore: 12,
      dropped: [...running, out('halve the\nbatch', low, true)],
      notChosen: worths,
      leastWorth: 0.05,
      chosen: [
        chosen('a', false, null),
        chosen('\u001b[2Jb', true, null),
        chosen('c', true, 'It is like what failed.'),
      ],
    },
    100,
  )
  expect(lines.filter(line => !/^ {2}dropped: idea [1-7]:/.test(line))).toEqual([
    'round 2 of 3: 30 candidates: 12 ran before, 10 dropped, 1 held back by the gate, 5 not chosen, 3 chosen',
    '  dropped: idea 0: It is running now (record 0).',
    '  dropped, 2 more: It is running now',
    `  held back: halve the batch: ${low}`,
    '  not chosen: worth 0.02: worth +0.0200, and the last chosen +0.0500',
    '  not chosen: worth 0.01: worth +0.0100, and the last chosen +0.0500',
    '  not chosen: worth 0: worth 0.0000, and the last chosen +0.0500',
    '  not chosen, 2 more: worth no more than that',
    '  (worth: the median of the gain, weighed with the chance to finish)',
    '  chosen, with the forecast of the gain:',
    '  +0.10 [−0.10, +0.30]  a',
    '  +0.10 [−0.10, +0.30]  [U+001B][2Jb (exploration)',
    '  +0.10 [−0.10, +0.30]  c (exploration of what the gate holds back)',
  ])
})
