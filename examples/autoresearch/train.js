/**
 * Trains a small language model on bytes: embeddings of the last few bytes, one hidden layer, a softmax over the next byte.
 * This is the only file to edit. Run it with `node train.js [--seed N]`; it prints a summary at the end.
 */
import { alphabet, evaluateBpb, TRAINING_BYTES, training } from './prepare.js'

// Hyper-parameters: edit these.
const CONTEXT = 4 // bytes seen before the one that is predicted
const EMBEDDING = 8 // numbers for each byte seen
const HIDDEN = 32 // width of the hidden layer
const ACTIVATION = 'tanh' // 'tanh' or 'relu'
const BATCH_SIZE = 64 // predictions for each step; divides TRAINING_BYTES
const LEARNING_RATE = 3e-3 // of Adam
const FINAL_LR_FRACTION = 0.5 // the rate falls linearly to this part of it
const WARMUP = 0.0 // part of the training in which the rate rises
const BETA1 = 0.9 // of Adam, as is the next
const BETA2 = 0.99
const WEIGHT_DECAY = 0.0 // decoupled, each step times the rate
const INIT_SCALE = 1.0 // times 1 / sqrt(inputs)
const UNIGRAM_BIAS = false // begin with the frequencies of the bytes
const SEED = 1337

const started = performance.now()
const seedFlag = process.argv.indexOf('--seed')
const seed = seedFlag < 0 ? SEED : Number(process.argv[seedFlag + 1])
if (!Number.isInteger(seed)) throw new Error(`--seed takes an integer, not ${process.argv[seedFlag + 1]}`)
if (TRAINING_BYTES % BATCH_SIZE !== 0) throw new Error(`BATCH_SIZE ${BATCH_SIZE} does not divide ${TRAINING_BYTES}`)

/** mulberry32: 32 bits of state, the same numbers on every machine. */
let state = seed >>> 0
function uniform() {
  state = (state + 0x6d2b79f5) >>> 0
  let z = Math.imul(state ^ (state >>> 15), state | 1)
  z ^= z + Math.imul(z ^ (z >>> 7), z | 61)
  return ((z ^ (z >>> 14)) >>> 0) / 4294967296
}

const BYTES = alphabet.length

/** A parameter with its gradient and the two moments of Adam. */
function parameter(size, scale) {
  const values = new Float64Array(size)
  for (let i = 0; i < size; i++) values[i] = scale * Math.sqrt(3) * (2 * uniform() - 1)
  return { values, gradient: new Float64Array(size), first: new Float64Array(size), second: new Float64Array(size) }
}

const inputs = CONTEXT * EMBEDDING
const embedding = parameter(BYTES * EMBEDDING, 1)
const hiddenWeight = parameter(HIDDEN * inputs, INIT_SCALE / Math.sqrt(inputs))
const hiddenBias = parameter(HIDDEN, 0)
const outputWeight = parameter(BYTES * HIDDEN, INIT_SCALE / Math.sqrt(HIDDEN))
const outputBias = parameter(BYTES, 0)
const parameters = [embedding, hiddenWeight, hiddenBias, outputWeight, outputBias]

if (UNIGRAM_BIAS) {
  const counts = new Float64Array(BYTES).fill(0.1)
  for (const byte of training) counts[byte]++
  for (let byte = 0; byte < BYTES; byte++) outputBias.values[byte] = Math.log(counts[byte] / training.length)
}

const input = new Float64Array(inputs)
const hidden = new Float64Array(HIDDEN)
const probability = new Float64Array(BYTES)
const hiddenGradient = new Float64Array(HIDDEN)

/** Fills `input`, `hidden` and `probability`; returns the log-probability of the byte that follows. */
function forward(text, position) {
  for (let c = 0; c < CONTEXT; c++) {
    const from = text[position - 1 - c] * EMBEDDING
    for (let e = 0; e < EMBEDDING; e++) input[c * EMBEDDING + e] = embedding.values[from + e]
  }
  for (let h = 0; h < HIDDEN; h++) {
    let sum = hiddenBias.values[h]
    const row = h * inputs
    for (let i = 0; i < inputs; i++) sum += hiddenWeight.values[row + i] * input[i]
    hidden[h] = ACTIVATION === 'relu' ? Math.max(0, sum) : Math.tanh(sum)
  }
  let largest = Number.NEGATIVE_INFINITY
  for (let byte = 0; byte < BYTES; byte++) {
    let sum = outputBias.values[byte]
    const row = byte * HIDDEN
    for (let h = 0; h < HIDDEN; h++) sum += outputWeight.values[row + h] * hidden[h]
    probability[byte] = sum
    if (sum > largest) largest = sum
  }
  const target = probability[text[position]]
  let total = 0
  for (let byte = 0; byte < BYTES; byte++) {
    probability[byte] = Math.exp(probability[byte] - largest)
    total += probability[byte]
  }
  for (let byte = 0; byte < BYTES; byte++) probability[byte] /= total
  return target - largest - Math.log(total)
}

/** Adds the gradient of the last `forward`, by the chain rule, from the softmax back to the embeddings. */
function backward(text, position) {
  hiddenGradient.fill(0)
  const target = text[position]
  for (let byte = 0; byte < BYTES; byte++) {
    const error = (probability[byte] - (byte === target ? 1 : 0)) / BATCH_SIZE
    if (Math.abs(error) < 1e-9) continue
    outputBias.gradient[byte] += error
    const row = byte * HIDDEN
    for (let h = 0; h < HIDDEN; h++) {
      outputWeight.gradient[row + h] += error * hidden[h]
      hiddenGradient[h] += error * outputWeight.values[row + h]
    }
  }
  for (let h = 0; h < HIDDEN; h++) {
    const error = hiddenGradient[h] * (ACTIVATION === 'relu' ? (hidden[h] > 0 ? 1 : 0) : 1 - hidden[h] * hidden[h])
    hiddenBias.gradient[h] += error
    const row = h * inputs
    for (let c = 0; c < CONTEXT; c++) {
      const from = text[position - 1 - c] * EMBEDDING
      for (let e = 0; e < EMBEDDING; e++) {
        const i = c * EMBEDDING + e
        embedding.gradient[from + e] += error * hiddenWeight.values[row + i]
        hiddenWeight.gradient[row + i] += error * input[i]
      }
    }
  }
}

/** One step of AdamW; clears the gradients. */
function update(step, rate) {
  for (const { values, gradient, first, second } of parameters) {
    for (let i = 0; i < values.length; i++) {
      const g = gradient[i]
      first[i] = BETA1 * first[i] + (1 - BETA1) * g
      second[i] = BETA2 * second[i] + (1 - BETA2) * g * g
      const direction = first[i] / (1 - BETA1 ** step) / (Math.sqrt(second[i] / (1 - BETA2 ** step)) + 1e-8)
      values[i] -= rate * (direction + WEIGHT_DECAY * values[i])
      gradient[i] = 0
    }
  }
}

const steps = TRAINING_BYTES / BATCH_SIZE
let smoothed = null
for (let step = 1; step <= steps; step++) {
  let loss = 0
  for (let b = 0; b < BATCH_SIZE; b++) {
    const position = CONTEXT + Math.floor(uniform() * (training.length - CONTEXT))
    loss -= forward(training, position) / BATCH_SIZE
    backward(training, position)
  }
  const done = step / steps
  const rise = WARMUP > 0 ? Math.min(1, done / WARMUP) : 1
  update(step, LEARNING_RATE * rise * (1 - (1 - FINAL_LR_FRACTION) * done))
  smoothed = smoothed === null ? loss : 0.98 * smoothed + 0.02 * loss
  if (step % Math.ceil(steps / 10) === 0) console.log(`step ${step}/${steps} loss ${smoothed.toFixed(4)}`)
}
const trained = performance.now()

const bpb = evaluateBpb(forward)
console.log('---')
console.log(`val_bpb:          ${bpb.toFixed(6)}`)
console.log(`training_seconds: ${((trained - started) / 1000).toFixed(1)}`)
console.log(`total_seconds:    ${((performance.now() - started) / 1000).toFixed(1)}`)
console.log(`peak_memory_mb:   ${(process.resourceUsage().maxRSS / 1024).toFixed(1)}`)
console.log(`num_steps:        ${steps}`)
console.log(`num_params_k:     ${(parameters.reduce((sum, { values }) => sum + values.length, 0) / 1000).toFixed(1)}`)
console.log(`seed:             ${seed}`)
