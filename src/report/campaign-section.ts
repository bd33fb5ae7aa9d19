/**
 * The rounds of the campaigns: how many candidates were considered and chosen, and which were dropped and why.
 */
import type { ExperimentRecord } from '../experiment/record.ts'
import { measuredRecord } from './gain-series.ts'
import { html, type Markup } from './markup.ts'
import { countText, dash, gainText, percentText } from './numbers.ts'
import { bounded, singleLine } from './outside-text.ts'
import type { CampaignHistory, CampaignRound, DroppedCandidate, ReportData } from './report-data.ts'

/** Dropped candidates listed for one campaign; a proposer that repeats itself must not fill the page. */
const mostDropped = 100

export function campaignSection({ campaigns, records }: ReportData): Markup | null {
  if (campaigns.length === 0) return null
  const byId = new Map(records.map(record => [record.id, record]))
  return html`<section><h2>${campaigns.length === 1 ? 'Rounds' : 'Campaigns'}</h2>
${campaigns.map(campaign => campaignTable(campaign, byId, campaigns.length > 1))}</section>`
}

function campaignTable(
  { id, rounds }: CampaignHistory,
  byId: ReadonlyMap<number, ExperimentRecord>,
  named: boolean,
): Markup {
  const heading = named ? html`<h3>Campaign ${id}</h3>` : null
  if (rounds.length === 0) return html`${heading}<p class="empty">No round has begun.</p>`
  const dropped = rounds.flatMap(({ round, dropped }) => dropped.map(candidate => ({ round, ...candidate })))
  return html`${heading}
<table class="compact stacking"><thead><tr><th>round</th><th class="number">considered</th><th class="number">ran before</th><th class="number">dropped</th><th class="number">chosen</th><th class="number">failed</th><th class="number">best gain of the round</th></tr></thead>
<tbody>${rounds.map(round => roundRow(round, byId))}</tbody></table>
${dropped.length === 0 ? html`<p class="note">No candidate was dropped.</p>` : droppedTable(dropped)}`
}

function roundRow(
  { round, considered, ranBefore, dropped, chosen }: CampaignRound,
  byId: ReadonlyMap<number, ExperimentRecord>,
): Markup {
  const records = chosen.flatMap(({ recordId }) => byId.get(recordId) ?? [])
  const best = records.flatMap(record => measuredRecord(record) ?? []).sort((a, b) => b.gain - a.gain)[0]
  const explored = chosen.filter(choice => choice.explored)
  const probabilities = explored.flatMap(({ probability }) => (probability === null ? [] : [percentText(probability)]))
  const exploration =
    explored.length === 0
      ? ''
      : `, ${explored.length} of them to explore${probabilities.length > 0 && probabilities.length <= 4 ? ` (probability ${probabilities.join(', ')})` : ''}`
  const failed = records.filter(({ verdict }) => verdict === 'failed').length
  return html`<tr><td data-label="round">${round}</td><td class="number" data-label="considered">${considered}</td><td class="number" data-label="ran before">${ranBefore}</td><td class="number" data-label="dropped">${dropped.length}</td><td class="number" data-label="chosen">${chosen.length}${exploration}</td><td class="number" data-label="failed">${failed}</td><td class="number" data-label="best gain">${best === undefined ? dash : gainText(best.record.measured)}</td></tr>
`
}

function droppedTable(dropped: readonly (DroppedCandidate & { readonly round: number })[]): Markup {
  const more =
    dropped.length > mostDropped
      ? html`<p class="note">and ${countText(dropped.length - mostDropped, 'more', 'more')}.</p>`
      : null
  const rows = dropped.slice(0, mostDropped).map(
    ({ round, sentence, reason }) =>
      html`<tr><td data-label="round">${round}</td><td data-label="candidate"><bdi>${bounded(singleLine(sentence), 400)}</bdi></td><td data-label="reason"><bdi>${bounded(singleLine(reason), 400)}</bdi></td></tr>
`,
  )
  return html`<h3>Dropped before running</h3>
<table class="compact stacking"><thead><tr><th>round</th><th>candidate</th><th>why it was dropped</th></tr></thead><tbody>${rows}</tbody></table>${more}`
}
