/**
 * Keeps a log file below a size while a program writes straight into it: the first quarter and the latest quarter stay,
 * and a line between them says how much was left out.
 *
 * It works because the program's descriptor appends: after the file is cut, the next write lands at its new end. The program
 * is paused for the milliseconds of the cut, or what it writes meanwhile would be lost, or stand before older lines.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'

const firstLookMilliseconds = 20
const longestPauseMilliseconds = 250

/** The two logs of a run, watched as often as their growth asks for. */
export class CappedLogs {
  readonly #logs: readonly [CappedLog, CappedLog]
  #whilePaused: (action: () => void) => void = action => action()
  #timer: NodeJS.Timeout | undefined

  constructor([stdout, stderr]: readonly [string, string], capacity: number) {
    this.#logs = [new CappedLog(stdout, capacity), new CappedLog(stderr, capacity)]
  }

  /** For the program's standard output and error. */
  get descriptors(): readonly [number, number] {
    return [this.#logs[0].descriptor, this.#logs[1].descriptor]
  }

  /** `whilePaused` does something while nobody writes into the logs. */
  start(whilePaused: (action: () => void) => void): void {
    this.#whilePaused = whilePaused
    this.#look(firstLookMilliseconds)
  }

  /** Once nothing writes any more. */
  stop(): void {
    clearTimeout(this.#timer)
    for (const log of this.#logs) {
      if (log.isFull()) log.cut()
      log.close()
    }
  }

  #look(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const full = this.#logs.filter(log => log.isFull())
      if (full.length > 0) this.#whilePaused(() => full.forEach(log => void log.cut()))
      const spare = Math.min(...this.#logs.map(log => log.spareMilliseconds))
      this.#look(Math.min(Math.max(spare / 4, 5), 2 * milliseconds, longestPauseMilliseconds))
    }, milliseconds)
  }
}

class CappedLog {
  readonly #descriptor: number
  readonly #capacity: number
  /** Bytes of the part that stays at the beginning; null while nothing was left out. */
  #head: number | null = null
  #markLength = 0
  #leftOut = 0
  #size = 0
  #growth = 0
  #lookedAt = performance.now()

  constructor(path: string, capacity: number) {
    this.#descriptor = openSync(path, 'a+')
    this.#capacity = capacity
  }

  get descriptor(): number {
    return this.#descriptor
  }

  /** Whether the file has grown over its size. */
  isFull(): boolean {
    const { size, blocks } = fstatSync(this.#descriptor)
    const now = performance.now()
    this.#growth = Math.max(0, size - this.#size) / Math.max(now - this.#lookedAt, 1)
    this.#lookedAt = now
    this.#size = size
    // A program that reopens its output and writes at its old place leaves a hole, which takes no room.
    return Math.min(size, blocks * 512) > this.#capacity
  }

  /** Keeps the beginning and the end. */
  cut(): void {
    try {
      this.#keepEnds(fstatSync(this.#descriptor).size)
      this.#size = fstatSync(this.#descriptor).size
    } catch {
      // The disk is full of something else, or failing: the run is what counts, so let it go on.
    }
  }

  /** Milliseconds until it could be full, at the speed it grew at. */
  get spareMilliseconds(): number {
    return (this.#capacity - this.#size) / Math.max(this.#growth, 1e-9)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #keepEnds(size: number): void {
    const quarter = Math.floor(this.#capacity / 4)
    this.#head ??= this.#wholeLines(quarter)
    const from = Math.max(size - quarter, this.#head + this.#markLength)
    const tail = this.#read(from, size)
    this.#leftOut += from - this.#head - this.#markLength
    const mark = Buffer.from(`\n[almanac left out about ${this.#leftOut} bytes here]\n`)
    this.#markLength = mark.length
    ftruncateSync(this.#descriptor, this.#head)
    writeWhole(this.#descriptor, Buffer.concat([mark, tail]))
  }

  /** The largest length up to `limit` that ends with a line's end, if there is any line's end. */
  #wholeLines(limit: number): number {
    const end = this.#read(0, limit).lastIndexOf(10)
    return end < 0 ? limit : end + 1
  }

  #read(from: number, to: number): Buffer {
    const buffer = Buffer.alloc(to - from)
    let filled = 0
    while (filled < buffer.length) {
      const count = readSync(this.#descriptor, buffer, filled, buffer.length - filled, from + filled)
      if (count === 0) break
      filled += count
    }
    return buffer.subarray(0, filled)
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
}
