/**
 * The engine's thread: an embedded engine that does what messages say and answers with messages.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { ModelInput } from '../datum.ts'
import { announceNativeCalls, NativeCalls } from '../graph/native-calls.ts'
import { modelOf } from '../models/model-of.ts'
import type { ParameterGroup } from '../optimisers/optimiser.ts'
import type { Prefix, Sampler, ScoreRequest } from '../sampling.ts'
import type { Trainer } from '../training.ts'
import { createEmbeddedEngine } from './engine.ts'
import { copied } from './worker-copies.ts'
import type {
  FromThread,
  NamedPrefix,
  SentGroup,
  SentPrefix,
  SentSample,
  SentSampleRequest,
  SentSampler,
  SentTrainer,
  ToThread,
  Work,
  WorkerData,
} from './worker-messages.ts'

const { options, calls } = workerData as WorkerData
announceNativeCalls(new NativeCalls(calls))
const port = parentPort!
const trainers = new Map<number, Trainer>()
const samplers = new Map<number, Sampler>()
const prefixes = new Map<number, { readonly prefix: Prefix; readonly sampler: number }>()
const cancellations = new Map<number, AbortController>()
let numbers = 0
/** The reason of all cancellations: the caller's own stays in its thread. */
const cancelled = new Error('cancelled')

try {
  const engine = createEmbeddedEngine(options)
  port.on('message', (message: ToThread) => {
    if (message.kind === 'call') void answer(engine, message.call, message.work)
    else if (message.kind === 'cancel') cancellations.get(message.call)?.abort(cancelled)
    else if (message.kind === 'release') prefixes.delete(message.prefix)
    else {
      // What it was still asked is done before.
      void samplers.get(message.sampler)?.dispose()
      samplers.delete(message.sampler)
    }
  })
  send({ kind: 'ready', capabilities: engine.capabilities })
} catch (error) {
  send({ kind: 'failed', message: (error as Error).message })
}

function send(message: FromThread): void {
  const { value, buffers } = copied(message)
  port.postMessage(value, buffers)
}

async function answer(engine: ReturnType<typeof createEmbeddedEngine>, call: number, work: Work): Promise<void> {
  const cancellation = new AbortController()
  cancellations.set(call, cancellation)
  try {
    const value = await carryOut(engine, work, cancellation.signal)
    const trainer = 'trainer' in work ? trainers.get(work.trainer) : undefined
    send({ kind: 'answer', call, value, ...(trainer && { version: trainer.version }) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    send({ kind: 'refusal', call, message, cancelled: error === cancelled })
  } finally {
    cancellations.delete(call)
  }
}

type AnyVerb = (...given: readonly unknown[]) => Promise<unknown>

async function carryOut(
  engine: ReturnType<typeof createEmbeddedEngine>,
  work: Work,
  signal: AbortSignal,
): Promise<unknown> {
  switch (work.verb) {
    case 'createTrainer': {
      const { model, ...rest } = work.options
      const built = modelOf(
        model.kind,
        model.configuration,
        'others cannot go to another thread: use createEmbeddedEngine',
      )
      return sentTrainer(await engine.createTrainer({ ...rest, model: built }))
    }
    case 'loadTrainer':
      return sentTrainer(await engine.loadTrainer(work.folder))
    case 'loadSampler':
      return sentSampler(await engine.loadSampler(work.folder))
    case 'disposeEngine':
      return engine.dispose()
    case 'optimStep': {
      const { groups, ...rest } = work.options
      return trainers.get(work.trainer)!.optimStep({ ...rest, groups: groups.map(withPredicate) })
    }
    case 'snapshot':
      return sentSampler(await trainers.get(work.trainer)!.snapshot(...work.given))
    case 'disposeTrainer': {
      const trainer = trainers.get(work.trainer)!
      trainers.delete(work.trainer)
      return trainer.dispose()
    }
    case 'sample':
      return sample(work.sampler, work.requests, signal)
    case 'beamSearch':
      return samplers.get(work.sampler)!.beamSearch(restored(work.requests), { signal })
    case 'score': {
      const requests = work.requests.map(({ prefix, ...rest }): ScoreRequest => {
        return prefix === undefined ? rest : { ...rest, prefix: namedPrompt(prefix) as Prefix }
      })
      return samplers.get(work.sampler)!.score(requests, { signal })
    }
    case 'prefix':
      return sentPrefix(work.sampler, await samplers.get(work.sampler)!.prefix(namedPrompt(work.prompt)))
    case 'extend': {
      const longer = await samplers.get(work.sampler)!.extend(namedPrefix(work.prefix), work.tokens)
      return sentPrefix(work.sampler, longer)
    }
    case 'disposeSampler': {
      const sampler = samplers.get(work.sampler)!
      samplers.delete(work.sampler)
      for (const [number, prefix] of prefixes) if (prefix.sampler === work.sampler) prefixes.delete(number)
      return sampler.dispose()
    }
    default: {
      if ('trainer' in work) {
        const trainer = trainers.get(work.trainer)!
        return (trainer[work.verb] as AnyVerb).call(trainer, ...work.given)
      }
      const sampler = samplers.get(work.sampler)!
      return (sampler[work.verb] as AnyVerb).call(sampler, ...work.given, { signal })
    }
  }
}

async function sample(
  number: number,
  requests: readonly SentSampleRequest[],
  signal: AbortSignal,
): Promise<readonly (readonly SentSample[])[]> {
  const samples = await samplers.get(number)!.sample(restored(requests), { signal })
  return samples.map(ofRequest =>
    ofRequest.map(({ prefix, ...rest }) => ({ ...rest, ...(prefix && { prefix: sentPrefix(number, prefix) }) })),
  )
}

function numbered<T>(objects: Map<number, T>, object: T): number {
  objects.set(++numbers, object)
  return numbers
}

function sentTrainer(trainer: Trainer): SentTrainer {
  const { parameters, vocabulary, contextLength, version } = trainer
  return { number: numbered(trainers, trainer), parameters, vocabulary, contextLength, version }
}

function sentSampler(sampler: Sampler): SentSampler {
  const { vocabulary, contextLength, version } = sampler
  return { number: numbered(samplers, sampler), vocabulary, contextLength, version }
}

function restored<R extends { readonly prompt: ModelInput | NamedPrefix }>(requests: readonly R[]) {
  return requests.map(request => ({ ...request, prompt: namedPrompt(request.prompt) }))
}

/** What is no prompt at all is refused by the sampler. */
function namedPrompt(prompt: ModelInput | NamedPrefix): ModelInput | Prefix {
  return typeof prompt === 'object' && prompt !== null && 'prefixNumber' in prompt ? namedPrefix(prompt) : prompt
}

/** One that went with its sampler is as foreign to others as one of elsewhere. */
function namedPrefix(named: NamedPrefix): Prefix {
  if (!('prefixNumber' in named)) return named
  return prefixes.get(named.prefixNumber)?.prefix ?? { length: 0, tokens: new Int32Array(0) }
}

function sentPrefix(sampler: number, prefix: Prefix): SentPrefix {
  const prefixNumber = numbered(prefixes, { prefix, sampler })
  return { prefixNumber, length: prefix.length, tokens: prefix.tokens }
}

function withPredicate({ match, ...rest }: SentGroup): ParameterGroup {
  if (typeof match === 'string' || !('names' in match)) return { ...rest, match }
  const names = new Set(match.names)
  return { ...rest, match: ({ name }) => names.has(name) }
}
