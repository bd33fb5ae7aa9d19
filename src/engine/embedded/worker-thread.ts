/**
 * The main thread's end of the engine's thread: sends calls, hands out answers, and knows how the thread ended.
 */
import { Worker } from 'node:worker_threads'
import type { Capabilities } from '../engine.ts'
import { NativeCalls } from '../graph/native-calls.ts'
import type { EmbeddedEngineOptions } from './engine-options.ts'
import { copied } from './worker-copies.ts'
import type { FromThread, ToThread, Work, WorkerData } from './worker-messages.ts'

interface Pending {
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
  readonly signal: AbortSignal | undefined
}

export interface Answer {
  readonly value: unknown
  /** Of the trainer that was asked. */
  readonly version: number | undefined
}

/** Threads that have not ended. A program that ends takes its threads with it, whatever they are at. */
const running = new Set<NativeCalls>()

function closeAll(): void {
  for (const calls of running) calls.closeNow()
}

export class EngineThread {
  readonly #nativeCalls = new NativeCalls()
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  /** Prefixes of this thread: what is no longer referred to need not be kept in the other. */
  readonly #prefixes = new FinalizationRegistry<number>(prefix => {
    if (!this.#ended) this.#post({ kind: 'release', prefix })
  })
  #calls = 0
  /** Why no call can be made any more. */
  #ended: { readonly reason: unknown } | null = null
  readonly #ready: PromiseWithResolvers<Capabilities> = Promise.withResolvers()

  /** Rejects with a sentence when the engine cannot be made. */
  readonly ready: Promise<Capabilities> = this.#ready.promise

  constructor(options: EmbeddedEngineOptions) {
    const worker = new Worker(new URL('worker.ts', import.meta.url), {
      workerData: { options, calls: this.#nativeCalls.memory } satisfies WorkerData,
      name: 'engine',
      // The program's own flags can forbid that a file is started, as --input-type does.
      execArgv: [],
    })
    worker.on('message', (message: FromThread) => this.#receive(message))
    worker.on('error', error => this.#end(new Error(`the engine's thread failed: ${error.message}`, { cause: error })))
    if (running.size === 0) process.on('exit', closeAll)
    running.add(this.#nativeCalls)
    worker.on('exit', () => {
      running.delete(this.#nativeCalls)
      if (running.size === 0) process.off('exit', closeAll)
    })
    worker.on('exit', code => this.#end(new Error(`the engine's thread ended by itself (exit code ${code})`)))
    this.#worker = worker
  }

  get ended(): boolean {
    return this.#ended !== null
  }

  /** Likewise a sampler that was forgotten without being disposed of. */
  readonly #samplers = new FinalizationRegistry<number>(sampler => {
    if (!this.#ended) this.#post({ kind: 'releaseSampler', sampler })
  })

  /** Lets the other thread forget the prefix when this one does. */
  keepWith(holder: object, prefix: number): void {
    this.#prefixes.register(holder, prefix)
  }

  freeWith(holder: object, sampler: number): void {
    this.#samplers.register(holder, sampler)
  }

  /** Rejects with the sentence of the thread, the signal's reason, or how the thread ended. */
  call(work: Work, signal?: AbortSignal): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended.reason)
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const call = ++this.#calls
      // Throws for what cannot be copied, a function for one.
      this.#post({ kind: 'call', call, work })
      const cancel = () => this.#post({ kind: 'cancel', call })
      signal?.addEventListener('abort', cancel, { once: true })
      const settled = <T>(settle: (value: T) => void) => {
        return (value: T) => {
          signal?.removeEventListener('abort', cancel)
          settle(value)
        }
      }
      this.#pending.set(call, { resolve: settled(resolve), reject: settled(reject), signal })
      this.#worker.ref()
    })
  }

  /** A call that frees something. A thread that has ended has freed all it had, whatever it ended for. */
  async free(work: Work): Promise<void> {
    if (this.#ended) return
    try {
      await this.call(work)
    } catch (error) {
      if (!this.#ended) throw error
    }
  }

  /**
   * Ends with this reason what the thread was still asked for, at once; and the thread, as soon as it is out of the runtime: the graph that it is
   * running is run to its end.
   */
  async terminate(reason: unknown): Promise<void> {
    this.#end(reason)
    // So that the program does not end before.
    this.#worker.ref()
    await this.#nativeCalls.closed()
    await this.#worker.terminate()
  }

  #post(message: ToThread): void {
    const { value, buffers } = copied(message)
    this.#worker.postMessage(value, buffers)
  }

  #receive(message: FromThread): void {
    if (message.kind === 'failed') this.#end(new Error(message.message))
    else if (message.kind === 'ready') {
      // A program that waits for nothing of the engine may end.
      this.#worker.unref()
      this.#ready.resolve(message.capabilities)
    } else {
      const pending = this.#pending.get(message.call)
      if (!pending) return
      this.#pending.delete(message.call)
      if (this.#pending.size === 0) this.#worker.unref()
      if (message.kind === 'answer') pending.resolve({ value: message.value, version: message.version })
      else pending.reject(message.cancelled ? pending.signal!.reason : new Error(message.message))
    }
  }

  #end(reason: unknown): void {
    if (this.#ended) return
    this.#ended = { reason }
    this.#ready.reject(reason)
    for (const { reject } of this.#pending.values()) reject(reason)
    this.#pending.clear()
  }
}
