/** The tables of the README say what the code says. When one fails, put the rows that it prints into the README. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readCards } from './cards.ts'
import { expectation, optionNames, options } from './options.ts'

// The formatter pads the columns.
const readme = readFileSync(fileURLToPath(new URL('README.md', import.meta.url)), 'utf8')
const lines = readme.replaceAll(/ {2,}/g, ' ').split('\n')
const recipes = ['olmo', 'nanochat', 'diffusion'].map(name =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`${name}.json`, import.meta.url)), 'utf8')),
)

test('options, with their defaults and the values of the recipes', () => {
  const rows = optionNames.map(name => {
    const { meaning, default: byDefault } = options[name]
    const values = [byDefault, ...recipes.map(recipe => recipe[name])]
    return `| \`${name}\` | ${meaning} | ${expectation(options[name])} | ${values.join(' | ')} |`
  })
  expect(rows.filter(row => !lines.includes(row))).toEqual([])
})

test('cards', () => {
  const rows = readCards().map(
    ({ name, tag, values }) => `| ${name} | ${tag} | ${values.map(({ text }) => text).join(' · ')} |`,
  )
  expect(rows.filter(row => !lines.includes(row))).toEqual([])
})
