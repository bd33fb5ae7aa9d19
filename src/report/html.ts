/**
 * The report: one self-contained HTML file. No script, no request to anywhere, light and dark, for a page, a telephone
 * and paper. The same data gives the same bytes. See docs/report.md for what each figure means.
 */
import type { Family } from '../experiment/environment.ts'
import { campaignSection } from './campaign-section.ts'
import { environmentSection } from './environment-section.ts'
import { bestGainSection, forecastSection } from './gain-figures.ts'
import { headline } from './headline.ts'
import { html, type Markup, markup } from './markup.ts'
import { bounded, singleLine } from './outside-text.ts'
import { recordsSection } from './records-section.ts'
import type { ReportData } from './report-data.ts'
import { styleSheet } from './style.ts'
import { timeSection } from './time-section.ts'

/** What the environment is. Its name only where the title is another. */
function deck({ name, description }: Family, title: string): Markup | null {
  const named = singleLine(bounded(name, 120))
  const first = named === title ? null : html`<b><bdi>${named}</bdi></b>`
  const second = description === '' ? null : html`<bdi>${singleLine(bounded(description, 300))}</bdi>`
  if (first === null && second === null) return null
  return html`<p class="deck">${first}${first && second ? '. ' : null}${second}</p>`
}

/** The whole file as text, to be written as UTF-8. */
export function renderReport(data: ReportData): string {
  const title = singleLine(bounded(data.title, 200))
  const made = singleLine(data.generatedAt.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, '$1 $2 UTC'))
  const { family } = data.environment
  // The policy forbids every request and script, should an escape ever fail.
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Almanac">
<title>${title}</title>
<style>${markup(styleSheet)}</style>
</head>
<body>
<header>
<p class="overline">Almanac report · ${made}</p>
<h1><bdi>${title}</bdi></h1>
${deck(family, title)}
${headline(data)}
</header>
<main>
${bestGainSection(data)}
${forecastSection(data)}
${recordsSection(data)}
${campaignSection(data)}
${timeSection(data)}
${environmentSection(data)}
</main>
<footer><section><p>A gain is how much better than the reference a candidate is, whatever the metric’s direction: the median over its finished runs against the median of the reference’s. “±” is one standard error; 95 % intervals are by Student’s t. Better means a probability of at least 95 % that the gain is above zero, worse at most 5 %; a reference measured once leaves every verdict inconclusive. A failure has no gain: it is neither zero nor left out.</p></section></footer>
</body>
</html>
`
  // A line never breaks between a number and its sign.
  return page.text.replace(/(\d) %/g, '$1\u00a0%')
}
