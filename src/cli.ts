/**
 * The command line: made from the operations, with flags from their input schemas. It only parses, prints and exits;
 * what a command does is in `operations/`.
 *
 * Exit codes: 0 done · 1 it failed · 2 the call or the configuration must be corrected · 3 there was nothing to do, or
 * nothing that is worth a run · 4 it was run, and no run finished · 130 stopped by the user.
 */
import { existsSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { fieldProblems } from './campaign/field-problems.ts'
import { operationsFor } from './operations/all.ts'
import { InputError, type Operation } from './operations/operation.ts'
import { visibleText } from './report/outside-text.ts'
import { reportError } from './report-error.ts'
import { runInTerminal } from './terminal.ts'

const version = '0.1.0'

// A reader that goes away early (`| head`) is no error; and a campaign goes on when its terminal is closed.
process.stderr.on('error', () => {})
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED') return
  const sentence = `The result cannot be written (${code}): free some space, or send it elsewhere. What was stored stays.`
  process.exitCode = reportError(new Error(sentence))
})

/** Of words that only have commands below them. */
const groups: Readonly<Record<string, string>> = { campaign: 'start, resume and show research campaigns' }

/** Below the flags of a command that has lists among them. */
const listsText = `<values...>: one or several, with spaces or commas between them, or the flag once
for each (with spaces where a name or value has a comma in it, as in --set).
A list goes on to the next flag: what belongs to no flag stands before it, or
behind "--".`

const program = new Command('almanac')
  .description(
    'Keeps the record of every experiment, forecasts the next one before you pay for it, and runs only the best few.',
  )
  .version(version)
  .showHelpAfterError('(--help shows how it is used)')
  .exitOverride()
  // It repeats what it does not know: the names of files, where a shell put them there.
  .configureOutput({ writeErr: text => void process.stderr.write(visibleText(text)) })
  .addHelpText(
    'after',
    `
almanac COMMAND --help shows the flags of a command, with an example.

Exit codes: 0 done, 1 it failed, 2 correct the call or the configuration,
3 nothing to do or not worth a run, 4 run and no run finished, 130 stopped.`,
  )

for (const each of await operationsFor(process.argv.slice(2))) {
  const words = each.name.split(' ')
  const parent = words.slice(0, -1).reduce(groupOf, program)
  addOperation(parent, words.at(-1)!, each)
}

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}

function groupOf(parent: Command, word: string): Command {
  const found = parent.commands.find(command => command.name() === word)
  return found ?? parent.command(word).description(groups[word]!).exitOverride()
}

function addOperation(parent: Command, word: string, it: Operation): void {
  const command = parent.command(word).description(it.summary).exitOverride()
  const { properties = {}, required = [] } = z.toJSONSchema(it.input, { io: 'input' }) as InputSchema
  const lists = Object.keys(properties).filter(
    field => properties[field]!.type === 'array' && !it.positional.includes(field),
  )
  if (lists.length > 0) command.addHelpText('after', `\n${listsText}`)
  if (it.help !== undefined) command.addHelpText('after', `\n${it.help}`)
  command.addHelpText('after', `\nExample:\n  $ ${it.example}`)
  for (const field of it.positional) {
    const { type, description } = properties[field]!
    const dots = type === 'array' ? '...' : ''
    command.argument(required.includes(field) ? `<${field}${dots}>` : `[${field}${dots}]`, description)
  }
  for (const [field, property] of Object.entries(properties)) {
    if (!it.positional.includes(field)) command.addOption(optionOf(field, property, required.includes(field)))
  }
  command.option('--directory <folder>', 'where the environment file is, or the file itself (default: here or above)')
  command.option('--ledger <file>', 'the ledger (default: .almanac/ledger.db beside the environment file)')
  command.option('--json', 'print the result as JSON, and progress as JSON lines on standard error')
  command.action(async (...parameters: unknown[]) => {
    const positional = parameters.slice(0, it.positional.length)
    const { directory, ledger, json, ...flags } = command.opts()
    const given = Object.fromEntries(it.positional.map((field, index) => [field, positional[index]]))
    const value = Object.fromEntries(Object.entries({ ...flags, ...given }).filter(([, each]) => each !== undefined))
    // Not left to commander: it would ask for `--message` before it says that it does not know `--mesage`.
    for (const option of command.options) {
      if (required.includes(option.attributeName()) && !(option.attributeName() in value))
        command.error(`error: required option '${option.flags}' not specified`)
    }
    const parsed = it.input.safeParse(value)
    if (!parsed.success) {
      // In the words that the user typed.
      const typed = (field: string) => (it.positional.includes(field) ? field : flagOf(field))
      const byFlag = Object.fromEntries(Object.entries(value).map(([field, each]) => [typed(field), each]))
      const issues = parsed.error.issues.map(issue => ({
        ...issue,
        path: issue.path.map((part, index) => (index === 0 ? typed(String(part)) : part)),
      }))
      throw new InputError(fieldProblems(byFlag, issues, it.name).join('\n'))
    }
    const run = runInTerminal(it, parsed.data, { directory, ledger, json: json === true })
    await run.catch(error => {
      const taken = it.positional.some(field => field in value) ? null : swallowed(lists, flags)
      throw error instanceof InputError && taken !== null && it.positional.length > 0
        ? new InputError(`${error.message}\n${taken}`, { cause: error })
        : error
    })
  })
}

/** A list takes every word that follows: a sentence on the one that may have been meant for the command itself, or null. */
function swallowed(lists: readonly string[], flags: Readonly<Record<string, unknown>>): string | null {
  for (const field of lists) {
    const values = (flags[field] ?? []) as readonly string[]
    const last = values.at(-1)
    if (last === undefined || values.length === 1) continue
    const isUnlike = values[0]!.includes('=') && !last.includes('=')
    if (isUnlike || existsSync(last))
      return `${flagOf(field)} took "${last}" as one of its values: what belongs to no flag stands before it, or behind "--".`
  }
  return null
}

function flagOf(field: string): string {
  return `--${field.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

interface InputSchema {
  readonly properties?: Record<string, Property>
  readonly required?: readonly string[]
}

interface Property {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
}

function optionOf(
  field: string,
  { type, description = '', default: standard, enum: choices }: Property,
  required: boolean,
): Option {
  const flag = flagOf(field)
  const short = field === 'message' ? '-m, ' : ''
  const value =
    type === 'boolean' ? '' : type === 'array' ? ' <values...>' : ` <${type === 'string' || !type ? 'text' : 'number'}>`
  // The schema fills in the default; commander tells only of those that it fills in itself.
  const told = required ? ' (required)' : standard === undefined || standard === false ? '' : ` (default: ${standard})`
  const option = new Option(`${short}${flag}${value}`, `${description}${told}`)
  if (choices) option.choices(choices)
  if (type === 'number' || type === 'integer') option.argParser(numberOf)
  return option
}

function numberOf(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}
