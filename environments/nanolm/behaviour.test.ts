/**
 * When a number differs, the program computes something else than the records were made with. If that is meant, `node behaviour.ts`
 * writes the file anew, and `node reproductions/rwm-records.ts` the records.
 */
import { expect, test } from 'vitest'
import { type Example, measured, readExamples } from './behaviour.ts'
import { idleOptions, resolveConfiguration } from './configuration.ts'
import { optionNames, options } from './options.ts'

const examples = readExamples()

test.each(examples)('run %# computes what it did', async example => {
  const now = await measured(example)
  const exact = ({ configuration, seed, parameters, estimatedFlops }: Example) => {
    return { configuration, seed, parameters, estimatedFlops }
  }
  expect(exact(now)).toEqual(exact(example))
  const numbers = ({ training, mobyDick, stateOfTheUnion }: Example) => [...training, mobyDick, stateOfTheUnion]
  // Processors round differently.
  const within = 2e-4
  expect(numbers(now)).toEqual(numbers(example).map(number => expect.closeTo(number, -Math.log10(2 * within))))
})

test('the examples use every option, otherwise than by default, and every choice', () => {
  const used = new Map(optionNames.map(name => [name, new Set<unknown>()]))
  for (const { configuration } of examples) {
    const whole = resolveConfiguration(configuration)
    const idle = new Set(idleOptions(whole))
    for (const name of optionNames) if (!idle.has(name)) used.get(name)!.add(whole[name])
  }
  for (const name of optionNames) {
    const option = options[name]
    if (option.kind === 'choice') expect([...used.get(name)!].sort(), name).toEqual([...option.choices].sort())
    else expect([...used.get(name)!].filter(value => value !== option.default).length, name).toBeGreaterThan(0)
  }
})
