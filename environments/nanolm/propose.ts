/**
 * Prints candidates for a recipe, one JSON object a line: sentence, tags, overrides, origin.
 *
 *     node environments/nanolm/propose.ts --recipe FILE --count N --seed S [--pairs SHARE]
 *
 * A share of the candidates are pairs of cards (none by default), the rest single values, drawn without replacement. The
 * same seed prints the same lines. When there are no more, fewer are printed and standard error says so. Exit code 2: the
 * arguments, the recipe or the cards are wrong.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { seededRandom } from '../../src/statistics/random.ts'
import { readCards } from './cards.ts'
import { resolveConfiguration } from './configuration.ts'
import { interventions, type Proposals, type ProposedIntervention } from './interventions.ts'

const usage = 'Usage: node environments/nanolm/propose.ts --recipe FILE --count N --seed S [--pairs SHARE]'

function readNumber(name: string, text: string, maximum: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= 0 && value <= maximum) return value
  throw new Error(`${name} must be a number from 0 to ${maximum}, not "${text}".`)
}

function propose(): { readonly chosen: readonly ProposedIntervention[]; readonly notes: readonly string[] } {
  const { values } = parseArgs({
    options: {
      recipe: { type: 'string' },
      count: { type: 'string' },
      seed: { type: 'string' },
      pairs: { type: 'string', default: '0' },
    },
  })
  if (values.recipe === undefined || values.count === undefined || values.seed === undefined) throw new Error(usage)
  const count = Math.round(readNumber('--count', values.count, 1e6))
  const seed = readNumber('--seed', values.seed, Number.MAX_SAFE_INTEGER)
  const pairs = Math.round(count * readNumber('--pairs', values.pairs, 1))
  const recipe = resolveConfiguration(JSON.parse(readFileSync(values.recipe, 'utf8')))
  const proposals = interventions(recipe, readCards(), { pairs, seed })
  const chosen = choose(proposals, count - pairs, seed)
  const missing = count - chosen.length
  const short =
    missing > 0 ? [`Only ${chosen.length} of ${count} candidates: the cards have no more for this recipe.`] : []
  return { chosen, notes: [...proposals.refused, ...short] }
}

function choose({ singles, pairs }: Proposals, count: number, seed: number): ProposedIntervention[] {
  const random = seededRandom(seed).fork('choose')
  const chosen = random.sample(singles, Math.min(count, singles.length))
  return random.shuffle([...chosen, ...pairs])
}

try {
  const { chosen, notes } = propose()
  process.stdout.write(chosen.map(intervention => `${JSON.stringify(intervention)}\n`).join(''))
  for (const note of notes) console.error(note)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
