/**
 * Carries out calls one after the other in the order they were made, until it is closed.
 */
export class CallQueue {
  readonly #owner: string
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(owner: string) {
    this.#owner = owner
  }

  get closed(): boolean {
    return this.#closed
  }

  /** A call that fails does not keep later ones from being carried out. */
  add<T>(verb: string, work: () => Promise<T> | T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error(`${verb}: the ${this.#owner} was disposed of`))
    const result = this.#last.then(work)
    // Without the result, which would be kept until the next call.
    this.#last = result.then(
      () => {},
      () => {},
    )
    // Another promise: this one's failure was looked at, and one that the caller does not look at should be reported.
    return result.then(value => value)
  }

  /** Refuses what comes after; `work` is carried out once, when all that was asked before is done. */
  close(work: () => Promise<void>): Promise<void> {
    if (!this.#closed) {
      this.#closed = true
      this.#last = this.#last.then(work)
    }
    return this.#last as Promise<void>
  }
}
