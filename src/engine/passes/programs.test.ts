/**
 * Which programs are kept: the latest, as many as fit, and two at least; the others are really disposed of.
 */
import { expect, it } from 'vitest'
import { scale } from '../algebra/arithmetic.ts'
import { Graph } from '../graph/graph.ts'
import { compile, type Program } from '../graph/program.ts'
import { Programs } from './programs.ts'

it('what was not used for longest goes first', async () => {
  const programs = new Programs<null>(10)
  const made = new Map<string, Program>()
  const use = async (name: string, size: number) => {
    const { program } = await programs.find(name, async () => {
      const graph = new Graph()
      const program = await compile({ result: scale(graph.input('a', [1]), 2) })
      made.set(name, program)
      return { program, about: null, size }
    })
    return program
  }
  const isAlive = async (name: string) => {
    try {
      return (await made.get(name)!.run({ a: Float32Array.of(3) }))['result']![0] === 6
    } catch {
      return false
    }
  }
  const alive = async () => {
    const names: string[] = []
    for (const name of made.keys()) if (await isAlive(name)) names.push(name)
    return names
  }
  for (const name of ['a', 'b', 'c']) await use(name, 3)
  expect(await use('a', 3)).toBe(made.get('a'))
  expect(await alive()).toEqual(['a', 'b', 'c'])
  await use('d', 3)
  expect(await alive()).toEqual(['a', 'c', 'd'])
  await use('large', 20)
  expect(await alive()).toEqual(['d', 'large'])
  await use('larger', 30)
  expect(await alive()).toEqual(['large', 'larger'])
  await programs.dispose()
  expect(await alive()).toEqual([])
})
