import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { placeholders, substitute } from './substitute.ts'

const values = { seed: '7', out: '/runs/a b/out', config: "/it's/config.json" }

describe('in a list', () => {
  test('values are inserted as they are', () => {
    expect(substitute(['train', '--seed={seed}', '{out}/{seed}', '$(x)'], values)).toEqual([
      'train',
      '--seed=7',
      '/runs/a b/out/7',
      '$(x)',
    ])
  })
})

describe('in a string', () => {
  test('values are quoted for the shell where they need it', () => {
    expect(substitute('train --seed {seed} --out {out} -c {config}', values)).toBe(
      `train --seed 7 --out '/runs/a b/out' -c '/it'\\''s/config.json'`,
    )
  })

  test.each(['{value}', '"{value}"', "'{value}'", 'a{value}b', '"a\\"{value}b"', `'x'"{value}"'y'`])(
    'a shell reads back any value in %s',
    command => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary-ascii' }), text => {
          // A shell cannot hold a zero.
          const value = text.replaceAll('\0', '')
          const line = `printf '%s' ${substitute(command, { value })}`
          const expected = command
            .replace(/\\?["']/g, quote => (quote === '\\"' ? '"' : ''))
            .replace('{value}', () => value)
          expect(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })).toBe(expected)
        }),
        { numRuns: 25, examples: [["a'b"], ['$(exit 3)`x`"\\'], ['\n'], ['!*?~']] },
      )
    },
  )

  test('what is not a plain name in single braces is left alone', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a shell's
    const command = "awk '{print $1}' ${HOME}/{a,b} {{seed}} {} { seed } {1} ${seed}"
    expect(substitute(command, values)).toBe(command)
    expect(placeholders(command)).toEqual([])
  })

  test('a placeholder may stand inside JSON', () => {
    expect(substitute(`train '{"seed":{seed}}'`, values)).toBe(`train '{"seed":7}'`)
  })
})

test('an unknown placeholder gets a sentence that names it and the known ones', () => {
  const sentence = /unknown placeholder \{sed\}; known here: \{seed\}, \{out\}, \{config\}/
  expect(() => substitute('train {sed}', values)).toThrow(sentence)
  expect(() => substitute(['train', '{sed}'], values)).toThrow(sentence)
  expect(() => substitute('train {toString}', values)).toThrow(/unknown placeholder \{toString\}/)
})

test('placeholders are listed once, in order', () => {
  expect(placeholders('a {out} {seed} {out} {nothing}')).toEqual(['out', 'seed', 'nothing'])
  expect(placeholders(['{seed}', '{out}'])).toEqual(['seed', 'out'])
})
