/**
 * What a program that people start says of an error that ends it: its sentence on standard error, whatever it quotes made
 * harmless, and the exit code that scripts go by. A stack is for `ALMANAC_DEBUG`.
 */
import { CommanderError } from 'commander'
import { InputError, NothingToDo, Stopped } from './operations/operation.ts'
import { bounded, visibleText } from './report/outside-text.ts'

/** A sentence may name the columns of a table that has a hundred thousand. */
const longestLine = 2000

/** The exit code: see `cli.ts`. What commander throws it has told already. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(
    `${visibleText(message)
      .split('\n')
      .map(line => `almanac: ${bounded(line, longestLine)}`)
      .join('\n')}\n`,
  )
  if (process.env['ALMANAC_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  if (error instanceof InputError) return 2
  if (error instanceof Stopped) return 130
  return error instanceof NothingToDo ? 3 : 1
}
