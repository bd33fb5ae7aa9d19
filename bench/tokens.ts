/**
 * What a language model is sent to forecast 16 candidates from 250 records: one by one without a prompt cache, one by one behind one
 * shared beginning, and all in one question. Counted are the bytes of the requests as they arrive at a server, in tokens of o200k
 * (gpt-tokenizer, installed into the temporary folder the first time). Shared is what a request has in common with the one before it, from
 * its first byte on: what a prompt cache need not read again. The records are made up.
 *
 * Run:  node bench/tokens.ts [--records 250] [--candidates 16]
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { languageForecaster } from '../src/forecast/language/language.ts'
import { type LanguageInput, languageSettings } from '../src/forecast/language/settings.ts'
import { type Asked, scriptedServer } from '../src/language/scripted-server.ts'
import { madeUp } from './made-up-records.ts'

/** Of the price of a token that is read anew, where providers say one; the lowest that is usual. */
const priceOfCached = 0.1

const flags = new Command('node bench/tokens.ts')
  .description('Tokens that a language model is sent: one by one, with a shared beginning, and batched.')
  .option('--records <number>', 'in the history', wholeNumberFrom(1), 250)
  .option('--candidates <number>', 'that are forecast', wholeNumberFrom(1), 16)
  .parse()
  .opts<{ records: number; candidates: number }>()

const { environment, records, candidates } = madeUp(flags.records, flags.candidates)
const count = await tokenCounter()

const oneByOne = await textsAsked({})
const batched = await textsAsked({ batch: true })

console.log(`${flags.candidates} candidates, ${flags.records} records\n`)
console.log(
  '| how | questions | tokens sent | shared with the one before | read anew | as paid, a cached token a tenth |',
)
console.log('|---|---|---|---|---|---|')
const alone = sent(oneByOne).tokens
row('one by one, no prompt cache', oneByOne.length, alone, 0)
row('one by one, shared beginning', oneByOne.length, alone, sent(oneByOne).shared)
row('all in one question', batched.length, sent(batched).tokens, sent(batched).shared)
const { input } = forecasterWith({}, 'http://127.0.0.1/v1#none').estimate(
  [{ environment, history: records, candidates }],
  { seed: 1 },
)
console.log(
  `\nThe estimate before asking one by one: ${input.toLocaleString('en')} tokens, ${(input / alone).toFixed(2)} of them.`,
)

function row(how: string, questions: number, tokens: number, shared: number): void {
  const anew = tokens - shared
  const paid = Math.round(anew + priceOfCached * shared)
  const percent = `${((100 * shared) / tokens).toFixed(1)} %`
  const figures = [tokens.toLocaleString('en'), percent, anew.toLocaleString('en'), paid.toLocaleString('en')]
  console.log(`| ${how} | ${questions} | ${figures.join(' | ')} (1/${(alone / paid).toFixed(1)}) |`)
}

function sent(texts: readonly string[]): { tokens: number; shared: number } {
  let tokens = 0
  let shared = 0
  texts.forEach((text, index) => {
    tokens += count(text)
    const before = texts[index - 1]
    if (before !== undefined) shared += count(text.slice(0, commonLength(before, text)))
  })
  return { tokens, shared }
}

function commonLength(first: string, second: string): number {
  let length = 0
  while (length < first.length && first[length] === second[length]) length++
  return length
}

function forecasterWith(settings: Partial<LanguageInput>, model: string) {
  // The whole history is shown: what is measured is sending it.
  const whole = languageSettings.parse({ model, context: 1_000_000, ...settings })
  return languageForecaster(whole, {
    answers: null,
    variables: {},
    signal: new AbortController().signal,
    tell() {},
  })
}

/** The messages of each request in the order in which they were sent, as a server reads them. */
async function textsAsked(settings: Partial<LanguageInput>): Promise<string[]> {
  await using server = await scriptedServer(answered)
  const forecasts = await forecasterWith(settings, server.model).forecast(environment, records, candidates, { seed: 1 })
  if (forecasts.some(forecast => 'failed' in forecast)) throw new Error('a forecast failed, and was asked for twice')
  return server.asked.map(({ body }) => body.messages.map(({ role, content }) => `${role}\n${content}`).join('\n'))
}

/** A right answer, so that nothing is asked for twice. */
function answered({ body }: Asked) {
  const text = body.messages.at(-1)!.content
  const labels = text.slice(text.indexOf('\n# Candidates:')).matchAll(/^## Candidate (C\d+)$/gm)
  const gain = { p10: -0.02, p25: -0.01, p50: 0, p75: 0.01, p90: 0.02 }
  const forecasts = [...labels].map(([, candidate]) => {
    return { candidate, closest: [1], basis: 'analogy', uncertainty: '', finishes: 0.9, gain }
  })
  return { answer: { forecasts } }
}

/** Without the tokenizer, as Almanac estimates: three characters a token. */
async function tokenCounter(): Promise<(text: string) => number> {
  const folder = join(tmpdir(), 'almanac-bench-tokenizer')
  const entry = join(folder, 'node_modules', 'gpt-tokenizer', 'esm', 'encoding', 'o200k_base.js')
  try {
    if (!existsSync(entry)) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'package.json'), '{}')
      execFileSync('npm', ['install', '--prefix', folder, '--silent', 'gpt-tokenizer@4.0.0'], { stdio: 'pipe' })
    }
    const { countTokens } = (await import(pathToFileURL(entry).href)) as { countTokens(text: string): number }
    return countTokens
  } catch (error) {
    const [line] = error instanceof Error ? error.message.split('\n') : [String(error)]
    console.error(`gpt-tokenizer cannot be used (${line}): three characters are counted as a token`)
    return text => Math.ceil(text.length / 3)
  }
}
