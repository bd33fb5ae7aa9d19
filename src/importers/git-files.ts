/**
 * What the files of a repository are to an experiment, by their names: a file of results says how it went, a document says
 * something about it, and only the rest is what was tried. Guesses from what people really commit.
 */

/** A text that can hold results: JSON, tables, logs. */
const resultFile =
  /(^|\/)([\w-]*[-_.])?(results?|metrics?|scores?|leaderboard|(experiments?|research|runs?|train(ing)?|eval(uation)?)[-_]?log|autoresearch)([-_.][\w.-]*)?\.(jsonl?|tsv|csv|txt)$|\.(log|out)$/i
/** What sets something is tried, whatever it is called besides. */
const settings = /(config|param|setting|schema|weight|template)[\w.-]*$/i
const trackerFolder = /(^|\/)(\.auto|wandb|mlruns|lightning_logs)\//i
const outputFolder =
  /(^|\/)(logs?|outputs?|runs?|results?|experiments?_?log)\/(.*\/)?[^/]*\.(jsonl?|tsv|csv|txt|npy|npz|pkl|pt|bin)$/i

const document =
  /\.(md|markdown|rst|adoc|org|pdf|docx?|png|jpe?g|gif|svg|webp)$|(^|\/)(licen[cs]e|notice|authors|contributors|codeowners|changelog|citation\.cff|\.gitignore|\.gitattributes|\.mailmap)[^/]*$|(^|\/)(docs?|notes)\//i
/** Text that a program reads: what an agent is told is tried like any other code. */
const instructions = /prompt|skill|agents?\.md|program\.md|claude\.md|(^|\/)rules?\//i

export function mayHoldResults(path: string): boolean {
  return resultFile.test(path) && !settings.test(path)
}

export function isDocument(path: string): boolean {
  return document.test(path) && !instructions.test(path)
}

/** Whether a file does not belong to what was tried: it may even say how it went. */
export function isBesideTheCode(path: string): boolean {
  return mayHoldResults(path) || trackerFolder.test(path) || isOutput(path) || isDocument(path)
}

function isOutput(path: string): boolean {
  return outputFolder.test(path) && !settings.test(path)
}
