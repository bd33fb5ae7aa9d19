/**
 * The embedded engine in a thread of its own: computing blocks that thread, and the one that asks goes on, so that a command line stays
 * alive and can be stopped. Numbers are the same as in this thread. What is given is copied, and so are results.
 */
import type { Engine } from '../engine.ts'
import { requireRecord } from '../required-types.ts'
import { completeEngineOptions, type EmbeddedEngineOptions } from './engine-options.ts'
import type { SentSampler, SentTrainer } from './worker-messages.ts'
import { WorkerSampler } from './worker-sampler.ts'
import { EngineThread } from './worker-thread.ts'
import { WorkerTrainer } from './worker-trainer.ts'

export interface WorkerEngineOptions extends EmbeddedEngineOptions {
  /**
   * Ends every call with the signal's reason, at once, and the thread as soon as the graph that it is running has been run. (Disposing waits for
   * what was asked before.)
   */
  readonly signal?: AbortSignal
}

/**
 * Models are built again in the thread from their kind and configuration, so only those that are built in can be trained here; for
 * others there is createEmbeddedEngine. While nothing is asked, the thread does not keep the program from ending.
 */
export async function createWorkerEngine(given: WorkerEngineOptions = {}): Promise<Engine> {
  requireRecord('createWorkerEngine: options', given)
  const { signal, ...options } = given
  signal?.throwIfAborted()
  const thread = new EngineThread(completeEngineOptions('createWorkerEngine', options))
  const abort = () => void thread.terminate(signal!.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const capabilities = await thread.ready
  let disposed: Promise<void> | null = null
  const refuseDisposed = (verb: string) => {
    if (disposed) throw new Error(`${verb}: the engine was disposed of`)
  }
  return {
    capabilities,
    async createTrainer(given) {
      refuseDisposed('createTrainer')
      requireRecord('createTrainer: options', given)
      const { model, ...rest } = given
      requireRecord('createTrainer: model', model)
      const { kind, configuration } = model
      const work = { verb: 'createTrainer', options: { ...rest, model: { kind, configuration } } } as const
      return new WorkerTrainer(thread, (await thread.call(work)).value as SentTrainer)
    },
    async loadTrainer(folder) {
      refuseDisposed('loadTrainer')
      return new WorkerTrainer(thread, (await thread.call({ verb: 'loadTrainer', folder })).value as SentTrainer)
    },
    async loadSampler(folder) {
      refuseDisposed('loadSampler')
      return new WorkerSampler(thread, (await thread.call({ verb: 'loadSampler', folder })).value as SentSampler)
    },
    dispose() {
      disposed ??= dispose()
      return disposed
    },
  }

  async function dispose(): Promise<void> {
    signal?.removeEventListener('abort', abort)
    if (!thread.ended) await thread.call({ verb: 'disposeEngine' })
    await thread.terminate(new Error('the engine was disposed of'))
  }
}
