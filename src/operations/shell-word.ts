import { visibleText } from '../report/outside-text.ts'

/** A word of a command line that a person may copy, quoted for a shell where need be. What would act on a terminal is shown instead. */
export function shellWord(text: string): string {
  const shown = visibleText(text)
  return /^[\w./:@%+=,-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
