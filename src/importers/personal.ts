/** An imported history without personal data: texts are scrubbed, options that say who, where or how are left out. Pure. */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { isPersonalName, withoutPersonalData } from '../files/personal-data.ts'
import type { ImportedHistory, ImportedRow, UnusableRow } from './history.ts'

export function withoutPersonal(history: ImportedHistory): ImportedHistory {
  return {
    ...history,
    source: withoutPersonalData(history.source),
    name: scrubbed(history.name),
    description: scrubbed(history.description),
    rows: history.rows.map(withoutPersonalRow),
    unusable: history.unusable.map(withoutPersonalUnusable),
    statuses: history.statuses.map(status => ({ ...status, word: withoutPersonalData(status.word) })),
    guesses: history.guesses.map(withoutPersonalData),
  }
}

/** The row itself where it has nothing personal: a large import is not copied. */
function withoutPersonalRow(row: ImportedRow): ImportedRow {
  const { intervention, outcome } = row
  const { sentence, overrides, diff, tags, origin } = intervention
  const kept = {
    sentence: withoutPersonalData(sentence),
    overrides: overrides === null ? null : withoutPersonalOptions(overrides),
    // Code that git has is the user's own, and its diff has to apply.
    diff: row.code === null ? scrubbed(diff) : diff,
    tags: tags.length === 0 ? tags : tags.map(withoutPersonalData),
    origin: scrubbed(origin),
  }
  const reason = scrubbed(outcome.reason)
  const texts = { place: withoutPersonalData(row.place), commit: scrubbed(row.commit), note: scrubbed(row.note) }
  const isSame =
    kept.sentence === sentence &&
    (overrides === null || canonicalJson(kept.overrides) === canonicalJson(overrides)) &&
    kept.diff === diff &&
    kept.tags.every((tag, index) => tag === tags[index]) &&
    kept.origin === origin &&
    reason === outcome.reason &&
    texts.place === row.place &&
    texts.commit === row.commit &&
    texts.note === row.note
  return isSame ? row : { ...row, ...texts, intervention: kept, outcome: { ...outcome, reason } }
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

/** A number under such a name is an option like others; so is an object, whose members are looked at. */
export function withoutPersonalOptions(configuration: JsonObject): JsonObject {
  const entries = Object.entries(configuration).flatMap(([name, value]): [string, Json][] => {
    const saysWho = typeof value === 'string' || (Array.isArray(value) && value.some(each => typeof each === 'string'))
    return saysWho && isPersonalName(name) ? [] : [[name, scrubbedValue(value)]]
  })
  return Object.fromEntries(entries)
}

function scrubbedValue(value: Json): Json {
  if (typeof value === 'string') return withoutPersonalData(value)
  if (Array.isArray(value)) return value.map(scrubbedValue)
  return isJsonObject(value) ? withoutPersonalOptions(value) : value
}
