/**
 * From a JSON value to a whole, valid configuration, or to one sentence a problem; and which options of a configuration
 * are idle, so that two configurations that train the same way can be known to be the same.
 */
import { allows, type Configuration, expectation, type OptionName, optionNames, options } from './options.ts'

/** Hidden units of the feed-forward layer are a multiple of this. */
const feedForwardMultiple = 8

/** Everything that is wrong with it, one sentence each; empty when it is valid. */
export function configurationProblems(value: unknown): string[] {
  const problems = overrideProblems(value)
  return problems.length > 0 ? problems : jointProblems(withDefaults(value as Partial<Configuration>))
}

/** What is wrong with it option by option, whatever the others are. */
export function overrideProblems(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [`A configuration must be a JSON object of options, not ${describe(value)}.`]
  }
  return Object.entries(value).flatMap(([name, given]) => optionProblems(name, given))
}

/** The configuration with defaults filled in. Throws all the problems, a line each. */
export function resolveConfiguration(value: unknown): Configuration {
  const problems = configurationProblems(value)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return withDefaults(value as Partial<Configuration>)
}

/** Hidden units of the feed-forward layer. SwiGLU's third matrix is paid for by two thirds of the units. */
export function feedForwardWidth({ feedForwardFactor, width, activation }: Configuration): number {
  const units = feedForwardFactor * width * (activation === 'swiglu' ? 2 / 3 : 1)
  return Math.max(feedForwardMultiple, Math.round(units / feedForwardMultiple) * feedForwardMultiple)
}

/** The options that change nothing under the others: Muon's under AdamW, the end of a schedule that has none. */
export function idleOptions(configuration: Configuration): OptionName[] {
  const { optimiser, weightAveraging, curriculum, objective, masking } = configuration
  const idle: OptionName[] = []
  if (optimiser !== 'muon') idle.push('muonLearningRate', 'muonMomentum', 'newtonSchulzSteps')
  if (optimiser !== 'lion') idle.push('lionLearningRate', 'lionMomentum')
  if (optimiser !== 'sgd') idle.push('sgdLearningRate', 'sgdMomentum')
  if (optimiser === 'lion' || optimiser === 'sgd') idle.push('learningRate', 'beta1', 'beta2', 'epsilon')
  if (configuration.tiedEmbeddings) idle.push('headLearningRateFactor')
  if (configuration.schedule === 'constant') idle.push('finalLearningRateFraction')
  if (configuration.schedule !== 'warmup-stable-decay') idle.push('decayFraction')
  if (weightAveraging !== 'exponential') idle.push('averagingDecay')
  if (weightAveraging !== 'tail') idle.push('averagingFraction')
  if (objective !== 'masked-diffusion') idle.push('masking')
  if (objective !== 'masked-diffusion' || masking !== 'independent')
    idle.push('lowestMaskedShare', 'highestMaskedShare')
  if (curriculum === 'none') idle.push('curriculumStartLength', 'curriculumFraction')
  return idle
}

/** Equal for two configurations that train in exactly the same way. */
export function effectiveKey(configuration: Configuration): string {
  // Of the factor only the width that it comes to counts.
  const idle = new Set<OptionName>([...idleOptions(configuration), 'feedForwardFactor'])
  const effective = optionNames.filter(name => !idle.has(name)).map(name => [name, configuration[name]])
  return JSON.stringify([...effective, ['feedForwardWidth', feedForwardWidth(configuration)]])
}

function withDefaults(value: Partial<Configuration>): Configuration {
  return Object.fromEntries(optionNames.map(name => [name, value[name] ?? options[name].default])) as Configuration
}

function optionProblems(name: string, value: unknown): string[] {
  if (!Object.hasOwn(options, name)) {
    const near = nearestOption(name)
    const suggestion = near === null ? `The options are ${optionNames.join(', ')}.` : `Did you mean "${near}"?`
    return [`Unknown option "${name}". ${suggestion}`]
  }
  const option = options[name as OptionName]
  return allows(option, value) ? [] : [`Option "${name}" must be ${expectation(option)}, not ${describe(value)}.`]
}

function jointProblems(configuration: Configuration): string[] {
  const { width, heads, keyValueHeads, positions, contextLength, batchTokens, tokenBudget } = configuration
  const problems: string[] = []
  if (width % heads !== 0) {
    problems.push(`Option "width" must be a multiple of "heads" (${heads}), not ${width}.`)
  } else if (positions === 'rotary' && (width / heads) % 2 !== 0) {
    problems.push(
      `Option "width" must give each of ${heads} heads an even size for rotary positions, not ${width / heads}.`,
    )
  }
  if (heads % keyValueHeads !== 0) {
    problems.push(`Option "keyValueHeads" must divide "heads" (${heads}), which ${keyValueHeads} does not.`)
  }
  if (batchTokens < contextLength) {
    problems.push(`Option "batchTokens" must be at least "contextLength" (${contextLength}), not ${batchTokens}.`)
  }
  if (configuration.curriculum !== 'none' && configuration.curriculumStartLength >= contextLength) {
    problems.push(
      `Option "curriculumStartLength" must be below "contextLength" (${contextLength}) for a curriculum, not ${configuration.curriculumStartLength}.`,
    )
  }
  if (configuration.lowestMaskedShare > configuration.highestMaskedShare) {
    problems.push(
      `Option "lowestMaskedShare" must be at most "highestMaskedShare" (${configuration.highestMaskedShare}), not ${configuration.lowestMaskedShare}.`,
    )
  }
  if (tokenBudget < batchTokens) {
    problems.push(`Option "tokenBudget" must be at least "batchTokens" (${batchTokens}), not ${tokenBudget}.`)
  }
  if (configuration.schedule === 'warmup-stable-decay') {
    const { warmupFraction, decayFraction } = configuration
    if (warmupFraction + decayFraction > 1) {
      problems.push(
        `Option "decayFraction" must leave room for "warmupFraction" (${warmupFraction}) within 1, not ${decayFraction}.`,
      )
    }
  }
  return problems
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value)
}

/** The option whose name is fewest edits away, when that is few enough to be a slip. */
function nearestOption(name: string): OptionName | null {
  const distances = optionNames.map(option => editDistance(name.toLowerCase(), option.toLowerCase()))
  const least = Math.min(...distances)
  return least <= Math.max(2, name.length / 3) ? optionNames[distances.indexOf(least)]! : null
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
