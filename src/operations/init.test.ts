/** `init` with somebody to ask: what is asked, in which words, and what is written then. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openEnvironment } from '../campaign/open-environment.ts'
import { inProcess } from './in-process.ts'
import { init } from './init.ts'
import type { Question } from './operation.ts'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A repository whose program prints a loss, and the questions that `init` puts to whoever answers so. */
async function asked(program: string, answer: (question: Question) => string | undefined): Promise<string[]> {
  folder = mkdtempSync(join(tmpdir(), 'almanac-init-'))
  writeFileSync(join(folder, 'train.py'), program)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: folder, stdio: 'ignore' })
  git('init')
  git('add', '.')
  git('commit', '-m', 'first')
  const questions: string[] = []
  const ask = async (question: Question) => {
    questions.push(question.text)
    return answer(question)
  }
  await init.run({ yes: false, force: false }, inProcess(folder, { ask }))
  return questions
}

test('the command that imports what was found is told, as it has to be typed', async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-init-'))
  mkdirSync(join(folder, 'sweeps 1'))
  writeFileSync(join(folder, 'c.json'), '{"lr": 1}')
  writeFileSync(join(folder, 'sweeps 1', 'sweep.csv'), 'lr,val_loss\n1,2\n2,3\n')
  const flags = init.input.parse({ command: 'true', metric: 'loss', direction: 'minimize', configuration: 'c.json' })
  const written = await init.run(flags, inProcess(folder))
  const text = init.text(written, { width: 100, styling: (_, words) => words })
  expect(text).toContain("\n  almanac import 'sweeps 1/sweep.csv' --dry-run  # csv\n")
})

test('without git the files that the command names, and those that they import, are part of the reference', async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-init-'))
  writeFileSync(join(folder, 'c.json'), '{"lr": 1}')
  writeFileSync(join(folder, 'train.py'), 'import model\nprint("loss: 1")\n')
  writeFileSync(join(folder, 'model.py'), 'from layers import norm\n')
  for (const name of ['layers.py', 'unrelated.py']) writeFileSync(join(folder, name), 'x = 1\n')
  const flags = { metric: 'loss', direction: 'minimize', pattern: 'loss: (\\S+)', configuration: 'c.json' }
  await init.run(init.input.parse({ command: 'python train.py {config}', ...flags }), inProcess(folder))
  const version = async () => (await openEnvironment(folder)).configuredReference.code
  expect((await openEnvironment(folder)).file.reference.code).toEqual(['layers.py', 'model.py', 'train.py'])
  const before = await version()
  writeFileSync(join(folder, 'layers.py'), 'x = 2\n')
  expect(await version()).not.toBe(before)
})

const first = ({ suggestion, choices }: Question) => suggestion ?? choices![0]
const patternOf = async () => (await openEnvironment(folder)).file.metrics[0]!.pattern

test('what was found is asked about in words, and no regular expression is shown', async () => {
  const questions = await asked('print(f"val_loss = {loss:.4f}")\n', question => {
    expect([question.suggestion, ...(question.choices ?? [])].join(' ')).not.toMatch(/[\\^]/)
    return first(question)
  })
  expect(questions.at(-1)).toBe('How does the output show val_loss?')
  expect(await patternOf()).toBe('^val_loss\\s*=\\s*(\\S+)')
})

test('a metric that nothing was found of is taken as its name, a colon or an equals sign, and a number', async () => {
  const answers = ['python train.py', 'score', 'maximize']
  const questions = await asked('pass\n', question => answers.shift() ?? first(question))
  expect(questions).toHaveLength(4)
  const pattern = new RegExp((await patternOf())!, 'm')
  expect(['score: 0.5', 'score = 0.5'].map(line => pattern.exec(line)?.[1])).toEqual(['0.5', '0.5'])
})

test('who knows another way gives the expression', async () => {
  const answers = ['python train.py', 'score', 'maximize', 'in another way', 'final (\\S+)']
  await asked('pass\n', () => answers.shift())
  expect(await patternOf()).toBe('final (\\S+)')
})
