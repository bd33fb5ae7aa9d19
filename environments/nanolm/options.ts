/**
 * Every option of a nanolm run: its type, the values it may take, its default and what it does. One table, from which the
 * validator, the type `Configuration` and the table in the README follow. Nothing is switched off by null, because a JSON
 * merge patch cannot set null: zero does it.
 */

interface NumberOption {
  readonly kind: 'number' | 'integer'
  readonly minimum: number
  readonly maximum: number
  readonly default: number
  readonly meaning: string
}

interface PowerOption {
  readonly kind: 'power of two'
  readonly minimum: number
  readonly maximum: number
  readonly default: number
  readonly meaning: string
}

interface ChoiceOption<T extends string = string> {
  readonly kind: 'choice'
  readonly choices: readonly T[]
  readonly default: T
  readonly meaning: string
}

interface SwitchOption {
  readonly kind: 'switch'
  readonly default: boolean
  readonly meaning: string
}

export type Option = NumberOption | PowerOption | ChoiceOption | SwitchOption

function integer(minimum: number, maximum: number, byDefault: number, meaning: string): NumberOption {
  return { kind: 'integer', minimum, maximum, default: byDefault, meaning }
}

function number(minimum: number, maximum: number, byDefault: number, meaning: string): NumberOption {
  return { kind: 'number', minimum, maximum, default: byDefault, meaning }
}

function power(minimum: number, maximum: number, byDefault: number, meaning: string): PowerOption {
  return { kind: 'power of two', minimum, maximum, default: byDefault, meaning }
}

function choice<const T extends string>(
  choices: readonly T[],
  byDefault: NoInfer<T>,
  meaning: string,
): ChoiceOption<T> {
  return { kind: 'choice', choices, default: byDefault, meaning }
}

function onOff(byDefault: boolean, meaning: string): SwitchOption {
  return { kind: 'switch', default: byDefault, meaning }
}

export const options = {
  // The model.
  depth: integer(1, 16, 4, 'transformer blocks'),
  width: integer(8, 512, 64, 'size of the residual stream; a multiple of `heads`'),
  heads: integer(1, 32, 4, 'query heads'),
  keyValueHeads: integer(1, 32, 4, 'key and value heads, each shared by `heads / keyValueHeads` query heads'),
  feedForwardFactor: number(
    0.25,
    16,
    4,
    'hidden units of the feed-forward layer per unit of width; SwiGLU, which has three matrices, gets two thirds of it',
  ),
  contextLength: power(8, 512, 64, 'bytes of a row, in training and in validation: all that the model can see'),
  positions: choice(
    ['rotary', 'alibi', 'learned', 'none'],
    'rotary',
    'rotary embedding, a bias on attention that grows with distance (ALiBi), a learned vector for each position, or only the causal mask',
  ),
  norm: choice(['pre', 'post'], 'pre', 'norm on the input (pre) or the output (post) of each branch'),
  normKind: choice(['rms', 'layer'], 'rms', 'RMS norm, or layer norm, which subtracts the mean and adds a bias'),
  queryKeyNorm: onOff(false, 'RMS norm on queries and keys, head by head'),
  activation: choice(['gelu', 'swiglu', 'relu-squared'], 'swiglu', 'activation of the feed-forward layer'),
  tiedEmbeddings: onOff(false, 'one matrix for the input embedding and the output head'),
  logitSoftCap: number(0, 1000, 0, 'logits become `cap · tanh(logits / cap)`; 0 is no cap'),
  initialisationScale: number(0.01, 100, 1, 'factor on the standard deviation of every initial matrix'),
  residualScaling: choice(['none', 'depth'], 'none', 'branches are added as they are, or times 1/√(2 · depth)'),
  dropout: number(0, 0.9, 0, 'share of the embedding and of what each branch adds that is dropped in training'),

  // The optimiser.
  optimiser: choice(
    ['adamw', 'muon', 'lion', 'sgd'],
    'adamw',
    'AdamW, Lion or SGD with momentum for everything, or Muon for the matrices and AdamW for the rest',
  ),
  learningRate: number(0, 10, 0.003, 'peak learning rate of AdamW; idle with Lion and SGD'),
  lionLearningRate: number(0, 10, 0.001, 'peak learning rate of Lion; idle with others'),
  lionMomentum: number(0, 0.9999, 0.95, "decay of Lion's momentum, its second beta; idle with others"),
  sgdLearningRate: number(0, 100, 0.3, 'peak learning rate of SGD; idle with others'),
  sgdMomentum: number(0, 0.9999, 0.9, 'momentum of SGD; idle with others'),
  embeddingLearningRateFactor: number(
    0,
    1000,
    1,
    'times the learning rate for the input embedding and learned positions',
  ),
  headLearningRateFactor: number(0, 1000, 1, 'times the learning rate for the output head, where it is not tied'),
  muonLearningRate: number(0, 10, 0.02, 'peak learning rate of Muon; idle with others'),
  muonMomentum: number(0, 0.9999, 0.95, 'momentum of Muon; idle with others'),
  newtonSchulzSteps: integer(
    1,
    12,
    5,
    'Newton-Schulz iterations that orthogonalise an update of Muon; idle with others',
  ),
  weightDecay: number(0, 10, 0.1, 'decoupled weight decay of the matrices and an untied head, times the learning rate'),
  beta1: number(0, 0.9999, 0.9, "decay of AdamW's first moment; idle with Lion and SGD"),
  beta2: number(0, 0.99999, 0.95, "decay of AdamW's second moment; idle with Lion and SGD"),
  epsilon: number(1e-16, 1, 1e-8, "AdamW's term against division by zero; idle with Lion and SGD"),
  clipNorm: number(0, 1e6, 1, 'largest global norm of the gradient of the mean loss; 0 is no clipping'),

  // The schedule.
  schedule: choice(
    ['constant', 'cosine', 'linear', 'warmup-stable-decay'],
    'cosine',
    'course of the learning rate after the warm-up',
  ),
  warmupFraction: number(0, 0.9, 0.1, 'share of the steps in which the learning rate rises linearly from zero'),
  decayFraction: number(
    0.01,
    1,
    0.4,
    'share of the steps in which warmup-stable-decay decays, linearly; idle otherwise',
  ),
  finalLearningRateFraction: number(0, 1, 0.1, 'share of the peak learning rate left at the end; idle when constant'),

  // Weights that are measured.
  weightAveraging: choice(
    ['none', 'exponential', 'tail'],
    'none',
    'measured are the last weights, their exponential moving average, or their mean over the last steps',
  ),
  averagingDecay: number(0, 0.9999, 0.98, 'decay of the exponential moving average; idle without it'),
  averagingFraction: number(0.01, 1, 0.2, 'share of the steps, the last ones, in the mean of tail; idle otherwise'),

  // What is learned.
  objective: choice(
    ['autoregressive', 'masked-diffusion'],
    'autoregressive',
    'each byte from those before it, or masked bytes from all others; it decides what is measured, so it is no change of a recipe',
  ),
  masking: choice(
    ['independent', 'counted'],
    'independent',
    'each byte is masked by itself at a level, or a number of them; idle without masked-diffusion',
  ),
  lowestMaskedShare: number(0.001, 1, 0.001, 'lowest level of independent masking; idle otherwise'),
  highestMaskedShare: number(0.001, 1, 1, 'highest level of independent masking; idle otherwise'),

  // The data and the loss.
  mobyDickShare: number(0, 1, 0.5, 'share of the training rows from Moby-Dick; validation is always half and half'),
  curriculum: choice(
    ['none', 'linear', 'two-stage'],
    'none',
    'rows begin short and grow to `contextLength`, by powers of two along a line or at once; a step keeps its tokens',
  ),
  curriculumStartLength: power(
    8,
    512,
    16,
    'bytes of a row at the start; below `contextLength`; idle without curriculum',
  ),
  curriculumFraction: number(0.05, 1, 0.5, 'share of the steps in which rows are shorter; idle without curriculum'),
  batchTokens: power(8, 65536, 512, 'tokens in a step; at least `contextLength`'),
  tokenBudget: integer(8, 100_000_000, 327_680, 'tokens to train on; the part that fills no batch is left out'),
  labelSmoothing: number(0, 0.9, 0, 'share of each target that is spread over all bytes; in training alone'),
  zLoss: number(0, 1, 0, 'weight of the squared logarithm of the softmax normaliser in the loss'),
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof options

type Value<T> = T extends { readonly kind: 'choice'; readonly choices: readonly (infer C)[] }
  ? C
  : T extends SwitchOption
    ? boolean
    : number

/** A whole configuration: every option has a value. */
export type Configuration = { readonly [Name in OptionName]: Value<(typeof options)[Name]> }

export const optionNames = Object.keys(options) as OptionName[]

/** What a value of this option must be, to follow "must be". */
export function expectation(option: Option): string {
  switch (option.kind) {
    case 'choice':
      return `one of ${option.choices.join(', ')}`
    case 'switch':
      return 'true or false'
    case 'number':
      return `a number from ${option.minimum} to ${option.maximum}`
    case 'integer':
      return `a whole number from ${option.minimum} to ${option.maximum}`
    case 'power of two':
      return `a power of two from ${option.minimum} to ${option.maximum}`
  }
}

export function allows(option: Option, value: unknown): boolean {
  if (option.kind === 'choice') return option.choices.some(choice => choice === value)
  if (option.kind === 'switch') return typeof value === 'boolean'
  if (typeof value !== 'number' || !Number.isFinite(value)) return false
  if (value < option.minimum || value > option.maximum) return false
  if (option.kind === 'number') return true
  return Number.isInteger(value) && (option.kind === 'integer' || Number.isInteger(Math.log2(value)))
}
