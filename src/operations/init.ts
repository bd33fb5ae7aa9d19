/** Writes the environment file: proposes what it finds in the folder, asks for the rest or takes it from flags. */
import { existsSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { type EnvironmentInput, parseEnvironmentFile } from '../campaign/environment-file.ts'
import { environmentFileNames } from '../campaign/open-environment.ts'
import { createExclusively, writeAtomically } from '../files/atomic.ts'
import { environmentFileText } from './environment-file-text.ts'
import { type Context, InputError, operation } from './operation.ts'
import { projectFiles } from './project-files.ts'
import { proposeCode } from './propose-code.ts'
import { type EnvironmentProposal, type Found, proposeEnvironment } from './propose-environment.ts'
import { shellWord } from './shell-word.ts'
import { asInput } from './surroundings.ts'

const directions = ['minimize', 'maximize'] as const

interface Written {
  readonly path: string
  readonly environment: EnvironmentInput
  readonly found: readonly Found[]
  readonly results: string | null
  /** Other histories that were found; paths are from where the user stands. */
  readonly histories: readonly { readonly path: string; readonly format: string }[]
}

export const init = operation({
  name: 'init',
  summary: 'write the environment file for this folder, from what is found in it',
  example: 'almanac init --command "uv run train.py" --metric val_bpb --direction minimize',
  positional: [],
  input: z.strictObject({
    yes: z.boolean().default(false).describe('take what is found without asking'),
    force: z.boolean().default(false).describe('replace an environment file that is there'),
    name: z.string().min(1).optional().describe('its name'),
    command: z
      .string()
      .min(1)
      .optional()
      .describe('what runs one experiment; {seed}, {config} and {out} stand for what Almanac passes on'),
    metric: z.string().min(1).optional().describe('the name of the number that is to become better'),
    direction: z.enum(directions).optional().describe('which way is better'),
    pattern: z
      .string()
      .min(1)
      .optional()
      .describe('how the metric is found in the output: a regular expression with one group'),
    file: z.string().min(1).optional().describe('or the JSON file in {out} that has it'),
    path: z.string().min(1).optional().describe('and its path in there'),
    configuration: z
      .string()
      .min(1)
      .optional()
      .describe('the JSON file that is the reference configuration, passed on as {config}'),
    seconds: z.number().positive().optional().describe('time limit of a run'),
  }),
  run: async (flags, context): Promise<Written> => {
    const directory = resolve(context.directory)
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
      throw new InputError(`There is no folder ${directory}; correct its name.`)
    }
    const existing = environmentFileNames.find(name => existsSync(join(directory, name)))
    if (existing && !flags.force) {
      throw new InputError(`${existing} is there already; edit it, or replace it with --force.`)
    }
    const { proposal, found } = await proposeEnvironment(directory)
    if (proposal.referenceCommit === null && flags.configuration === undefined) {
      throw new InputError(
        `${directory} has no git commit, and no configuration is named: nothing that changes could be compared with. Commit the code (git init, git add, git commit), or give --configuration.`,
      )
    }
    for (const { what, where, why } of found.filter(({ what }) => !isGiven(what, flags))) {
      context.emit({ type: 'note', text: `found ${what} (${where}: ${why})` })
    }
    const answers = await completed(proposal, flags, context)
    const path = join(directory, existing ?? 'almanac.config.ts')
    const code = proposal.referenceCommit === null ? proposeCode(answers.command, projectFiles(directory)) : []
    const environment = environmentOf(proposal, answers, flags, code)
    await asInput((async () => parseEnvironmentFile(environment, basename(path)))())
    const text = path.endsWith('.json') ? `${JSON.stringify(environment, null, 2)}\n` : environmentFileText(environment)
    if (existing) writeAtomically(path, text)
    else if (!createExclusively(path, text)) throw new InputError(`${path} was written by another process meanwhile.`)
    const standing = resolve(context.standing ?? directory)
    const histories = proposal.histories.map(({ path, format }) => {
      const fromHere = relative(standing, join(directory, path))
      return { path: fromHere.startsWith('..') ? join(directory, path) : fromHere, format }
    })
    return { path, environment, found, results: proposal.resultsFile, histories }
  },
  text: ({ path, environment, results, histories }, { styling, sameFlags = '' }) => {
    const { command, metrics } = environment
    const lines = [
      styling('heading', `Wrote ${path}`),
      `  command  ${typeof command === 'string' ? command : command.join(' ')}`,
      `  metric   ${metrics[0]!.name} (${metrics[0]!.direction})`,
      ...codeLines(environment),
      'Next:',
    ]
    // Without a name it is the one in the environment file, wherever the user stands.
    if (results) lines.push(`  almanac import${sameFlags === '' ? ` ${shellWord(results)}` : sameFlags}`)
    for (const { path, format } of histories) {
      lines.push(`  almanac import ${shellWord(path)} --dry-run${sameFlags}  # ${format}`)
    }
    const set = environment.reference?.configuration === undefined ? '' : ' --set name=value'
    lines.push(
      set === ''
        ? `  edit the code, then: almanac forecast${sameFlags}`
        : `  almanac forecast${set}${sameFlags}${environment.reference?.commit === undefined ? '' : ', or edit the code'}`,
      `  almanac run -m "what you changed, and why it might help"${set}${sameFlags}`,
    )
    return lines.join('\n')
  },
})

interface Flags {
  readonly yes: boolean
  readonly name?: string | undefined
  readonly command?: string | undefined
  readonly metric?: string | undefined
  readonly direction?: (typeof directions)[number] | undefined
  readonly pattern?: string | undefined
  readonly file?: string | undefined
  readonly path?: string | undefined
  readonly configuration?: string | undefined
  readonly seconds?: number | undefined
}

/** What a flag says already need not be told. */
function isGiven(found: string, { command, metric }: Flags): boolean {
  return (command !== undefined && /^(command:|seed$)/.test(found)) || (metric !== undefined && /^metric:/.test(found))
}

interface Answers {
  readonly command: string
  readonly metric: string
  readonly direction: (typeof directions)[number]
  readonly source: { readonly pattern: string } | { readonly file: string; readonly path: string }
}

/** Flags first, then what was found, then questions; without anyone to ask, one error names the flags that are missing. */
async function completed(proposal: EnvironmentProposal, flags: Flags, context: Context): Promise<Answers> {
  const missing: string[] = []
  const ask = flags.yes ? undefined : context.ask
  const settle = async (
    flag: string,
    given: string | undefined,
    suggestion: string | null,
    text: string,
    choices?: readonly string[],
  ): Promise<string> => {
    if (given !== undefined) return given
    if (ask) {
      const answer = await ask({
        text,
        ...(suggestion === null ? {} : { suggestion }),
        ...(choices ? { choices } : {}),
      })
      if (answer !== undefined && answer.trim() !== '') return answer.trim()
    } else if (suggestion !== null) return suggestion
    missing.push(flag)
    return ''
  }

  const objective =
    proposal.metrics.find(({ name }) => name === flags.metric) ?? (flags.metric ? undefined : proposal.metrics[0])
  const command = await settle('--command', flags.command, proposal.command, 'Which command runs one experiment?')
  const metric = await settle('--metric', flags.metric, objective?.name ?? null, 'Which number is to become better?')
  const known = proposal.metrics.find(({ name }) => name === metric)
  const direction = await settle(
    '--direction',
    flags.direction,
    known?.direction ?? null,
    `Is ${metric} better when lower (minimize) or higher (maximize)?`,
    known?.direction && !flags.direction
      ? [known.direction, ...directions.filter(each => each !== known.direction)]
      : directions,
  )
  /** In words, as far as they go: whether a regular expression is right is no question for most who are asked. */
  const settlePattern = async (): Promise<string> => {
    const suggestion = known?.pattern ?? (metric === '' ? null : suggestedPattern(metric))
    if (!ask || suggestion === null || flags.pattern !== undefined) {
      return settle('--pattern', flags.pattern, suggestion, `Which regular expression finds ${metric} in the output?`)
    }
    const line = `on a line such as "${metric}${separatorOf(known?.pattern)} 0.99"`
    const answer = await ask({ text: `How does the output show ${metric}?`, choices: [line, 'in another way'] })
    if (answer === line) return suggestion
    const text = `Which regular expression finds ${metric}, with one group around the number?`
    if (answer !== undefined) return settle('--pattern', undefined, suggestion, text)
    missing.push('--pattern')
    return ''
  }
  const source =
    flags.file !== undefined
      ? { file: flags.file, path: await settle('--path', flags.path, metric, `Where in ${flags.file} is ${metric}?`) }
      : known?.file !== undefined && flags.pattern === undefined
        ? { file: known.file, path: known.path! }
        : { pattern: await settlePattern() }
  if (missing.length > 0) {
    throw new InputError(
      `Not found in ${context.directory}, and nobody to ask: give ${missing.join(', ')} ("almanac init --help" explains them).`,
    )
  }
  return { command, metric, direction: direction as Answers['direction'], source }
}

function environmentOf(
  proposal: EnvironmentProposal,
  answers: Answers,
  flags: Flags,
  code: readonly string[],
): EnvironmentInput {
  const others = proposal.metrics.filter(({ name, direction }) => name !== answers.metric && direction !== null)
  return {
    name: flags.name ?? proposal.name,
    description: proposal.description,
    command: answers.command,
    reference: {
      ...(flags.configuration === undefined ? {} : { configuration: flags.configuration }),
      ...(proposal.referenceCommit === null ? {} : { commit: 'HEAD' }),
      ...(code.length === 0 ? {} : { code: [...code] }),
    },
    metrics: [
      { name: answers.metric, direction: answers.direction, ...answers.source },
      ...others.map(({ name, direction, pattern, file, path }) => ({
        name,
        direction: direction!,
        ...(pattern === undefined ? { file: file!, path: path! } : { pattern }),
      })),
    ],
    ...(flags.seconds === undefined ? {} : { budget: { seconds: flags.seconds } }),
    ...(proposal.resultsFile === null ? {} : { results: proposal.resultsFile }),
    ...(proposal.evaluator.length === 0 ? {} : { evaluator: [...proposal.evaluator] }),
    ...(proposal.link.length === 0 ? {} : { link: [...proposal.link] }),
  }
}

/** Where git does not tell when the code changes. */
function codeLines({ reference }: EnvironmentInput): string[] {
  if (reference?.commit !== undefined) return []
  return reference?.code === undefined
    ? ['  code     none found: name what a run reads in reference.code, so that results of other code are kept apart']
    : [
        `  code     ${reference.code.join(', ')}: add what else a run reads, so that results of other code are kept apart`,
      ]
}

/** What stands between name and number where a pattern was found; a colon otherwise. */
function separatorOf(pattern: string | undefined): string {
  return pattern?.includes('\\s*=\\s*') ? ' =' : ':'
}

/** `name: 0.99` or `name = 0.99` at the beginning of a line. */
function suggestedPattern(metric: string): string {
  return `^${metric.replace(/[^\w]/g, '\\$&')}\\s*[:=]\\s*([-+0-9.eE]+|[Nn]a[Nn]|[Ii]nf)`
}
