/** The sections of a senpai log in Markdown: headings with a pull request, a hypothesis, a verdict, tables of metrics. */
import type { SenpaiSection } from './senpai-section.ts'

const verdicts = /\b(MERGED|CLOSED|SENT BACK|DEAD END)\b/

export function readSenpaiMarkdown(text: string): SenpaiSection[] {
  const lines = text.split(/\r\n|\n|\r/)
  const starts = lines.flatMap((line, index) => (/^#{1,6} .*\bPR #\d+:/.test(line) ? [index] : []))
  return starts.map((start, index) => {
    const next = starts[index + 1] ?? lines.length
    const body = lines.slice(start + 1, next)
    const heading = lines[start]!.replace(/^#+\s*/, '')
    return {
      line: start + 1,
      heading,
      hypothesis: labelled(body, 'hypothesis'),
      verdict:
        (verdicts.exec(heading) ??
          verdicts.exec(labelled(body, '(?:verdict|result|decision|outcome|status)') ?? ''))?.[1] ?? null,
      metrics: metricsIn(body),
    }
  })
}

/** `**Hypothesis:** text`, up to the next empty line. */
function labelled(body: readonly string[], label: string): string | null {
  const start = new RegExp(String.raw`^[-\s*>#]*${label}\**\s*:\**\s*(.*)$`, 'i')
  const at = body.findIndex(line => start.test(line))
  if (at < 0) return null
  const rest = body.slice(at + 1)
  const end = rest.findIndex(line => line.trim() === '' || /^\s*(\*\*|#|\||- )/.test(line))
  const lines = [start.exec(body[at]!)![1]!, ...rest.slice(0, end < 0 ? rest.length : end)]
  return (
    lines
      .map(line => line.trim())
      .join(' ')
      .trim() || null
  )
}

/** Tables whose rows are metrics: the first column names the metric, the others what was measured. */
function metricsIn(body: readonly string[]): Map<string, Map<string, string>> {
  const metrics = new Map<string, Map<string, string>>()
  let header: readonly string[] | null = null
  for (const line of body) {
    if (!/^\s*\|.*\|\s*$/.test(line)) {
      header = null
      continue
    }
    const cells = line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map(cell => cell.trim())
    if (header === null) header = cells
    else if (!cells.every(cell => /^:?-+:?$/.test(cell))) {
      const name = cells[0]!.replace(/[*`]/g, '').trim()
      const values = header
        .slice(1)
        .map((column, index): [string, string] => [column.replace(/\*/g, ''), cells[index + 1] ?? ''])
      if (name !== '' && !metrics.has(name)) metrics.set(name, new Map(values))
    }
  }
  return metrics
}
