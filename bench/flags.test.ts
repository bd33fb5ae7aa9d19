/** What the programs here say to flags that make no sense, before anything is measured: a sentence, and no stack. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quickStart } from '../src/command-line.ts'

function errorsOf(program: string, ...flags: string[]): Promise<string> {
  const path = join(import.meta.dirname, program)
  return new Promise(resolve =>
    execFile(process.execPath, [path, ...flags], { env: quickStart }, (_, __, errors) => resolve(errors)),
  )
}

it.each([
  ['engine.ts', '--foo', "error: unknown option '--foo'\n"],
  ['engine.ts', '--parts=trainin', 'is invalid. There is no "trainin": expected training, sampling.\n'],
  ['engine.ts', '--peers=torch,tensorflow', 'There is no "tensorflow": expected torch, transformers, jax.\n'],
  ['engine.ts', '--turns=zero', 'is invalid. Expected a whole number from 1 on.\n'],
  ['engine.ts', '--seconds=0', 'is invalid. Expected a positive number.\n'],
  ['ledger.ts', '--turn=3', '(Did you mean --turns?)\n'],
  ['forecasting.ts', '--turns=', 'Expected a whole number from 1 on.\n'],
  ['tokens.ts', '--candidate=3', '(Did you mean --candidates?)\n'],
  ['import.ts', '--sources=git', 'There is no "git": expected log, sweep.\n'],
  ['evaluation.ts', '--records=0', 'Expected a whole number from 1 on.\n'],
  ['overhead.ts', '--runs=1', 'Expected a whole number from 2 on.\n'],
  ['../reproductions/rwm.ts', '--pools=many', 'Expected a whole number from 1 on.\n'],
  ['../reproductions/rwm.ts', '--records=nowhere', 'give a folder with the records of two environments or more.\n'],
  ['../reproductions/rwm-logs.ts', '--pool=3', '(Did you mean --pools?)\n'],
  ['../examples/first-campaign.ts', '--rounds=0', 'Expected a whole number from 1 on.\n'],
  ['../examples/first-campaign.ts', '--round=1', '(Did you mean --rounds?)\n'],
])('%s %s', async (program, flag, sentence) => {
  const errors = await errorsOf(program, flag)
  expect(errors.endsWith(sentence), errors).toBe(true)
  expect(errors).not.toContain('    at ')
})

it('help says what each flag is', async () => {
  const help = await new Promise<string>(resolve =>
    execFile(process.execPath, [join(import.meta.dirname, 'engine.ts'), '--help'], { env: quickStart }, (_, output) =>
      resolve(output),
    ),
  )
  expect(help).toContain('Usage: node bench/engine.ts [options]')
  expect(help).toMatch(/--parts <list> +what is measured \(default: training,sampling\)/)
})
