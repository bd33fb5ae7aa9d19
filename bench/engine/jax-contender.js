/**
 * @jax-js/jax on the CPU (its WebAssembly backend) as a contender of bench/engine.ts, which starts it and says when to go: one
 * block of work for each line that it sends, answered by one line of JSON. The engine's decoder, training step (loss, gradients, clipping
 * to norm 1, AdamW) and rollout (one pass over the prompts, then a token at a time with a key-value cache), each compiled by jit.
 *
 * The library wants the workers of a browser for more than one thread: a stand-in over worker_threads is given to it.
 *
 * Run:  node jax-contender.js <folder with node_modules> '{"task": "train", "width": 96, ...}'
 */
import { resolveObjectURL } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

const [, , folder, json] = process.argv
const options = JSON.parse(json)
const { width, depth, heads, feedForwardWidth, vocabulary, rows, positions, newTokens = 0 } = options
const channels = width / heads

/** What the library uses of a browser's Worker, on a source in a blob. */
class BlobWorker {
  onmessage = null
  #worker
  constructor(url) {
    this.#worker = resolveObjectURL(url)
      .text()
      .then(source => {
        const worker = new Worker(
          `const { parentPort } = require('node:worker_threads')
           const self = globalThis
           self.postMessage = message => parentPort.postMessage(message)
           parentPort.on('message', data => self.onmessage({ data }))
           ${source}`,
          { eval: true },
        )
        worker.unref()
        worker.on('message', data => this.onmessage({ data }))
        return worker
      })
  }
  async postMessage(message) {
    const worker = await this.#worker
    worker.postMessage(message)
  }
}
if (options.threads > 1) {
  globalThis.Worker = BlobWorker
  Object.defineProperty(navigator, 'hardwareConcurrency', { value: options.threads })
}
const idleMebibytes = process.memoryUsage.rss() / 2 ** 20
const library = join(folder, 'node_modules', '@jax-js', 'jax')
const { version } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'))
const jax = await import(pathToFileURL(join(library, 'dist', 'index.js')).href)
const { numpy: np, nn, random, tree, jit, valueAndGrad } = jax

let key = random.key(0)
function nextKey() {
  const [next, other] = np.unstack(random.split(key))
  key = next
  return other
}
const matrix = (inputs, outputs) => random.normal(nextKey(), [inputs, outputs]).mul(inputs ** -0.5)

const parameters = {
  embedding: random.normal(nextKey(), [vocabulary, width]).mul(width ** -0.5),
  blocks: Array.from({ length: depth }, () => ({
    attentionNorm: np.ones([width]),
    packed: matrix(width, 3 * width),
    output: matrix(width, width),
    feedForwardNorm: np.ones([width]),
    gateUp: matrix(width, 2 * feedForwardWidth),
    down: matrix(feedForwardWidth, width),
  })),
  norm: np.ones([width]),
}

function norm(x, gain) {
  const scale = np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(1e-6))
  return x.div(scale).mul(gain)
}

/** (rows, positions, heads, channels); `places`: the position of each, as numbers. */
function rotate(x, places) {
  const half = channels / 2
  const frequencies = np.array(Float32Array.from({ length: half }, (_, i) => 10000 ** (-i / half)))
  const angles = np.outer(places, frequencies).reshape([-1, 1, half])
  const [first, second] = np.split(x, 2, -1)
  const [cosine, sine] = [np.cos(angles.ref), np.sin(angles)]
  return np.concatenate(
    [first.ref.mul(cosine.ref).sub(second.ref.mul(sine.ref)), second.mul(cosine).add(first.mul(sine))],
    -1,
  )
}

/**
 * Logits of the last dimension, and by block what `attend` gives beside what was attended. `attend(index, queries, keys, values)` takes
 * and gives (rows, positions, heads, channels).
 */
function decoder(p, tokens, places, attend) {
  const count = tokens.shape[1]
  let x = np.matmul(nn.oneHot(tokens, vocabulary), p.embedding.ref)
  const kept = []
  for (const [index, block] of p.blocks.entries()) {
    const packed = np.matmul(norm(x.ref, block.attentionNorm), block.packed)
    const [q, k, v] = np.split(packed.reshape([rows, count, 3 * heads, channels]), 3, 2)
    const { attended, keep } = attend(index, rotate(q, places.ref), rotate(k, places.ref), v)
    if (keep) kept.push(keep)
    x = x.add(np.matmul(attended.reshape([rows, count, width]), block.output))
    const [gate, up] = np.split(np.matmul(norm(x.ref, block.feedForwardNorm), block.gateUp), 2, -1)
    x = x.add(np.matmul(nn.silu(gate).mul(up), block.down))
  }
  places.dispose()
  return { logits: np.matmul(norm(x, p.norm), np.transpose(p.embedding)), kept }
}

const places = () => np.arange(positions).astype(np.float32)
const tokensOf = () =>
  np
    .array(
      Int32Array.from({ length: rows * positions }, () => Math.floor(Math.random() * vocabulary)),
      { dtype: np.int32 },
    )
    .reshape([rows, positions])

function trainer() {
  const loss = (p, tokens, targets) => {
    const { logits } = decoder(p, tokens, places(), (_, q, k, v) => ({
      attended: nn.dotProductAttention(q, k, v, { isCausal: true }),
    }))
    return np.sum(nn.logSoftmax(logits, -1).mul(nn.oneHot(targets, vocabulary))).mul(-1 / (rows * positions))
  }
  const step = jit((p, first, second, corrections, tokens, targets) => {
    const [value, gradients] = valueAndGrad(loss)(tree.ref(p), tokens, targets)
    const squares = tree.leaves(gradients).map(gradient => np.sum(np.square(gradient.ref)))
    const clip = np.minimum(np.reciprocal(np.sqrt(squares.reduce((a, b) => a.add(b))).add(1e-6)), 1)
    const [firstCorrection, secondCorrection] = np.unstack(corrections)
    const clipped = tree.map(gradient => gradient.mul(clip.ref), gradients)
    const newFirst = tree.map((m, gradient) => m.mul(0.9).add(gradient.ref.mul(0.1)), first, clipped)
    const newSecond = tree.map((m, gradient) => m.mul(0.95).add(np.square(gradient).mul(0.05)), second, clipped)
    const updated = tree.map(
      (x, m, s) => {
        const direction = m.ref.mul(firstCorrection.ref).div(np.sqrt(s.ref.mul(secondCorrection.ref)).add(1e-8))
        return x.mul(1 - 3e-3 * 0.1).sub(direction.mul(3e-3))
      },
      p,
      newFirst,
      newSecond,
    )
    for (const array of [clip, firstCorrection, secondCorrection]) array.dispose()
    return [updated, newFirst, newSecond, value]
  })
  const zeros = () => tree.map(x => np.zeros(x.shape), parameters)
  let [p, first, second] = [parameters, zeros(), zeros()]
  const [tokens, targets] = [tokensOf(), tokensOf()]
  let count = 0
  return async () => {
    count++
    const corrections = np.array(Float32Array.of(1 / (1 - 0.9 ** count), 1 / (1 - 0.95 ** count)))
    let value
    ;[p, first, second, value] = step(p, first, second, corrections, tokens.ref, targets.ref)
    await jax.blockUntilReady([p, first, second])
    return (await value.data())[0]
  }
}

function sampler() {
  const capacity = positions + newTokens
  const prefill = jit((p, tokens) => {
    const { logits, kept } = decoder(p, tokens, places(), (_, q, k, v) => ({
      attended: nn.dotProductAttention(q, k.ref, v.ref, { isCausal: true }),
      keep: [k, v].map(x => np.pad(x, { 1: [0, newTokens] })),
    }))
    return [logits.slice([], -1), kept]
  })
  const decode = jit((p, caches, token, past) => {
    const { logits, kept } = decoder(p, token, past.ref.astype(np.float32).reshape([1]), (index, q, k, v) => {
      const here = np.equal(np.arange(capacity), past.ref).reshape([1, capacity, 1, 1])
      const [keys, values] = caches[index].map((cache, part) => np.where(here.ref, [k, v][part], cache))
      here.dispose()
      const mask = np.lessEqual(np.arange(capacity), past.ref).reshape([1, 1, 1, capacity])
      return { attended: nn.dotProductAttention(q, keys.ref, values.ref, { mask }), keep: [keys, values] }
    })
    past.dispose()
    return [logits.reshape([rows, vocabulary]), kept]
  })
  const choose = jit((chooseKey, logits) => {
    const logProbabilities = nn.logSoftmax(logits, -1)
    const token = random.categorical(chooseKey, logProbabilities.ref).reshape([rows, 1])
    return [token.ref, np.sum(logProbabilities.mul(nn.oneHot(token.reshape([rows]), vocabulary)), -1)]
  })
  const tokens = tokensOf()
  return async () => {
    let [logits, caches] = prefill(tree.ref(parameters), tokens.ref)
    const drawn = []
    for (let past = positions; ; past++) {
      const [token, logProbability] = choose(nextKey(), logits)
      drawn.push(await token.ref.data(), await logProbability.data())
      if (past === capacity - 1) {
        token.dispose()
        tree.dispose(caches)
        return drawn
      }
      ;[logits, caches] = decode(tree.ref(parameters), caches, token, np.array(past, { dtype: np.int32 }))
    }
  }
}

const parameterCount = tree.leaves(parameters).reduce((sum, x) => sum + x.shape.reduce((a, b) => a * b), 0)
const step = options.task === 'train' ? trainer() : sampler()
let warmUpSeconds = 0
let stepSeconds = 0
for (let count = 0; count < options.warmUp && warmUpSeconds < 10; count++) {
  const start = performance.now()
  await step()
  stepSeconds = (performance.now() - start) / 1000
  warmUpSeconds += stepSeconds
}
const say = value => console.log(JSON.stringify(value))
say({ version, parameters: parameterCount, idleMebibytes, stepSeconds })
for await (const line of createInterface({ input: process.stdin })) {
  const seconds = []
  const processorSeconds = []
  while (seconds.reduce((a, b) => a + b, 0) < Number(line)) {
    const start = performance.now()
    const processorStart = process.cpuUsage()
    await step()
    seconds.push((performance.now() - start) / 1000)
    const { user, system } = process.cpuUsage(processorStart)
    processorSeconds.push((user + system) / 1e6)
  }
  say({ seconds, processorSeconds, peakMebibytes: process.resourceUsage().maxRSS / 1024 })
}
process.exit(0)
