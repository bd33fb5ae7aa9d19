/**
 * Marks when a thread is inside the runtime. A thread that is ended while it is there takes the whole program with it: the runtime's binding
 * cannot throw in a thread that ends, and aborts the process instead. So whoever ends a thread asks for `NativeCalls` first: no more calls are
 * begun, and the last has ended.
 */

/** What two threads share: the calls that are going on, and whether no more may begin. */
export class NativeCalls {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#words = new Int32Array(memory)
  }

  /** Throws when no more may begin. */
  begin(): void {
    // Counted before it is asked: either this sees that no more may begin, or whoever waits sees this one.
    Atomics.add(this.#words, going, 1)
    if (Atomics.load(this.#words, closed) === 0) return
    this.end()
    throw new Error('the thread is being ended')
  }

  end(): void {
    Atomics.sub(this.#words, going, 1)
    Atomics.notify(this.#words, going)
  }

  /** For another thread: no more calls begin, and the last has ended. */
  async closed(): Promise<void> {
    Atomics.store(this.#words, closed, 1)
    for (;;) {
      const count = Atomics.load(this.#words, going)
      if (count === 0) return
      await Atomics.waitAsync(this.#words, going, count).value
    }
  }

  /** The same for a thread that has no time to wait otherwise, as a program that ends. */
  closeNow(): void {
    Atomics.store(this.#words, closed, 1)
    for (;;) {
      const count = Atomics.load(this.#words, going)
      if (count === 0) return
      Atomics.wait(this.#words, going, count)
    }
  }
}

const [going, closed] = [0, 1]

/** Of this thread; null where nobody ends it. */
let ownCalls: NativeCalls | null = null

/** To be called once, in a thread that another may end. */
export function announceNativeCalls(calls: NativeCalls): void {
  ownCalls = calls
}

export async function nativeCall<T>(call: () => Promise<T>): Promise<T> {
  if (!ownCalls) return call()
  ownCalls.begin()
  try {
    return await call()
  } finally {
    ownCalls.end()
  }
}
