/** What takes long says how far it is: every ten seconds, so that whatever takes less says nothing. */

const betweenMilliseconds = 10_000

export function nowAndThen<Said extends readonly unknown[]>(say: (...said: Said) => void): (...said: Said) => void {
  let last = Date.now()
  return (...said) => {
    if (Date.now() - last < betweenMilliseconds) return
    last = Date.now()
    say(...said)
  }
}
