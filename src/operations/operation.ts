/**
 * A thing a user can do: its name, its input as a schema, what it gives back, and how that reads as text. The command
 * line is made from these (and later HTTP and MCP), so each is written once.
 */
import type { z } from 'zod'
import type { CampaignEvent } from '../campaign/events.ts'
import type { TableOptions } from '../report/table.ts'

export interface Operation<Schema extends z.ZodObject = z.ZodObject, Output = unknown> {
  /** The words that call it: `campaign start`. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** A command line that works, for the help text. */
  readonly example: string
  /** What else its help explains, below the flags. */
  readonly help?: string
  /** Every field described; the fields of `positional` are given without a flag, the last of them may repeat. */
  readonly input: Schema
  readonly positional: readonly (keyof z.output<Schema> & string)[]
  /** Whether it runs experiments: then Ctrl-C lets those that run finish. Others end at once. */
  readonly paysForRuns?: true
  /** Whether it may wait for language models: then Ctrl-C ends the asking, and what it took is told. */
  readonly asksModels?: (input: z.output<Schema>) => boolean
  readonly run: (input: z.output<Schema>, context: Context) => Promise<Output>
  /** What `--json` prints, where it is not the output itself. */
  readonly json?: (output: Output) => unknown
  /** For a script that looks at nothing else; 0 by default. */
  readonly exitCode?: (output: Output) => number
  /** The output for a person. */
  readonly text: (output: Output, options: TextOptions) => string
}

export interface TextOptions extends TableOptions {
  /** The flags by which a further call reaches the same environment and ledger, each with a space before it. */
  readonly sameFlags?: string
}

/** What an operation may use of its surroundings. */
export interface Context {
  /** Where the environment is looked for, here or above. */
  readonly directory: string
  /** Where the user stands: what the names of given files start from. By default the directory. */
  readonly standing?: string
  /** Where the ledger is, if not in `.almanac/` beside the environment file. */
  readonly ledger?: string
  /** The flags by which a further call reaches the same environment and ledger, each with a space before it. */
  readonly sameFlags?: string
  /** Aborts when no new run may start; what runs goes on to its end. */
  readonly stop: AbortSignal
  /** Aborts when running processes must end too. */
  readonly cancel: AbortSignal
  /** The environment variables that runs may inherit from, by name. */
  readonly variables: NodeJS.ProcessEnv
  emit(event: CampaignEvent): void
  /** Asks the person; absent where there is none. Undefined when they give no answer. */
  ask?(question: Question): Promise<string | undefined>
}

export interface Question {
  readonly text: string
  readonly suggestion?: string
  readonly choices?: readonly string[]
}

/** Keeps the types of schema and output together. */
export function operation<Schema extends z.ZodObject, Output>(
  it: Operation<Schema, Output>,
): Operation<Schema, Output> {
  return it
}

/** Exit code 2. */
export { InputError } from '../campaign/input-error.ts'

/** There is nothing to do, or nothing that is worth a run, and that is no failure: exit code 3. */
export class NothingToDo extends Error {
  override readonly name = 'NothingToDo'
}

/** The user stopped it while it waited for something other than a run: exit code 130. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}
