/** An imported history without personal data: texts are scrubbed, options that say who, where or how are left out. Pure. */
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { isPersonalName, withoutPersonalData } from '../files/personal-data.ts'
import type { ImportedHistory, ImportedRow, UnusableRow } from './history.ts'

/** `source` is what the source is called without what is personal in its name. */
export function withoutPersonal(
  history: ImportedHistory,
  source: string = withoutPersonalData(history.source),
): ImportedHistory {
  return {
    ...history,
    source,
    name: scrubbed(history.name),
    description: scrubbed(history.description),
    rows: history.rows.map(row => withoutPersonalRow(row, history.source, source)),
    unusable: history.unusable.map(withoutPersonalUnusable),
    statuses: history.statuses.map(status => ({ ...status, word: withoutPersonalData(status.word) })),
    guesses: history.guesses.map(withoutPersonalData),
    ...(history.columns && {
      columns: history.columns.map(([label, text]) => [label, withoutPersonalData(text)] as const),
    }),
  }
}

/** The row itself where it has nothing personal: a large import is not copied. */
function withoutPersonalRow(row: ImportedRow, source: string, scrubbedSource: string): ImportedRow {
  const { place, commit, note } = row
  const intervention = withoutPersonalIntervention(row, source, scrubbedSource)
  const reason = scrubbed(row.outcome.reason)
  const texts = { place: scrubbed(place), commit: scrubbed(commit), note: scrubbed(note) }
  const isSame =
    intervention === row.intervention &&
    reason === row.outcome.reason &&
    texts.place === place &&
    texts.commit === commit &&
    texts.note === note
  return isSame ? row : { ...row, ...texts, intervention, outcome: { ...row.outcome, reason } }
}

function withoutPersonalIntervention({ intervention, code }: ImportedRow, source: string, scrubbedSource: string) {
  const { sentence, overrides, diff, tags, origin } = intervention
  const kept = {
    sentence: scrubbed(sentence),
    overrides: overrides === null ? null : withoutPersonalOptions(overrides),
    // Code that git has is the user's own, and its diff has to apply.
    diff: code === null ? scrubbed(diff) : diff,
    tags: tags.some(tag => scrubbed(tag) !== tag) ? tags.map(withoutPersonalData) : tags,
    origin: origin === source ? scrubbedSource : scrubbed(origin),
  }
  const isSame =
    kept.sentence === sentence &&
    kept.overrides === overrides &&
    kept.diff === diff &&
    kept.tags === tags &&
    kept.origin === origin
  return isSame ? intervention : kept
}

function withoutPersonalUnusable(row: UnusableRow): UnusableRow {
  const { place, reason, text } = row
  return {
    ...row,
    place: withoutPersonalData(place),
    reason: withoutPersonalData(reason),
    text: withoutPersonalData(text),
  }
}

function scrubbed<Text extends string | null>(text: Text): Text {
  return (text === null ? null : withoutPersonalData(text)) as Text
}

/**
 * A number under such a name is an option like others; so is an object, whose members are looked at. The same object where nothing of it
 * is personal.
 */
export function withoutPersonalOptions(configuration: JsonObject): JsonObject {
  const entries = Object.entries(configuration)
  const kept = entries.flatMap(([name, value]): [string, Json][] => {
    const saysWho = typeof value === 'string' || (Array.isArray(value) && value.some(each => typeof each === 'string'))
    return saysWho && isPersonalName(name) ? [] : [[name, scrubbedValue(value)]]
  })
  const isSame = kept.length === entries.length && kept.every(([, value], index) => value === entries[index]![1])
  return isSame ? configuration : Object.fromEntries(kept)
}

function scrubbedValue(value: Json): Json {
  if (typeof value === 'string') return withoutPersonalData(value)
  if (Array.isArray(value)) {
    const kept = value.map(scrubbedValue)
    return kept.some((each, index) => each !== value[index]) ? kept : value
  }
  return isJsonObject(value) ? withoutPersonalOptions(value) : value
}
