/**
 * Moves parameters by their gradients: keeps what optimisers remember, clips, and steps each parameter as its group says.
 */
import type { Program } from '../graph/program.ts'
import { sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import { described } from '../required-types.ts'
import { adamwStep } from './adamw.ts'
import { lionStep } from './lion.ts'
import { muonDirection, muonMove } from './muon.ts'
import { compileNewtonSchulz } from './newton-schulz.ts'
import type { Muon, OptimStepOptions, OptimStepResult, ParameterGroup } from './optimiser.ts'
import { assignGroups } from './parameter-groups.ts'
import { sgdStep } from './sgd.ts'
import { exportedState, importedState, newState, type State, type StateOf, type StateRecord } from './state.ts'

type Arrays = ReadonlyMap<string, Float32Array>

export class Optimisation {
  readonly #parameters: readonly Parameter[]
  readonly #threads: number
  /** A parameter that changes its kind of optimiser begins anew. */
  readonly #states = new Map<string, State>()
  /** By the names of the matrices and the number of steps. */
  readonly #programs = new Map<string, Program>()

  constructor(parameters: readonly Parameter[], threads: number) {
    this.#parameters = parameters
    this.#threads = threads
  }

  /** Changes the values in place. */
  async step(values: Arrays, gradients: Arrays, options: OptimStepOptions): Promise<OptimStepResult> {
    const groups = assignGroups(this.#parameters, options.groups)
    const moving = this.#parameters.filter(({ name }) => !groups.get(name)!.frozen)
    const gradientNorm = globalNorm(moving.map(({ name }) => gradients.get(name)!))
    const limit = options.clipNorm ?? Number.POSITIVE_INFINITY
    if (!(typeof limit === 'number' && limit > 0))
      throw new Error(`optimStep: clipNorm is ${described(limit)}: expected a positive number, or null for no clipping`)
    const gradientScale = gradientNorm > limit ? limit / gradientNorm : 1

    const byMuon = new Map<ParameterGroup, Parameter[]>()
    for (const parameter of moving) {
      const group = groups.get(parameter.name)!
      const { optimiser, learningRate, weightDecay = 0 } = group
      if (optimiser.kind === 'muon') {
        byMuon.set(group, [...(byMuon.get(group) ?? []), parameter])
        continue
      }
      const [value, gradient] = [values.get(parameter.name)!, gradients.get(parameter.name)!]
      if (optimiser.kind === 'adamw') {
        const state = this.#state(parameter, 'adamw')
        adamwStep(value, gradient, state, optimiser, learningRate, weightDecay, gradientScale)
      } else if (optimiser.kind === 'lion') {
        const state = this.#state(parameter, 'lion')
        lionStep(value, gradient, state, optimiser, learningRate, weightDecay, gradientScale)
      } else {
        const state = this.#state(parameter, 'sgd')
        sgdStep(value, gradient, state, optimiser, learningRate, weightDecay, gradientScale)
      }
    }
    for (const [group, parameters] of byMuon) await this.#muonStep(group, parameters, values, gradients, gradientScale)
    return { gradientNorm }
  }

  /** What is remembered of each parameter that has moved, by its name. The arrays are views: the next step changes them. */
  exportState(): ReadonlyMap<string, StateRecord> {
    return new Map([...this.#states].map(([name, state]) => [name, exportedState(state)]))
  }

  /**
   * Puts copies of what `exportState` gave in the place of all that is remembered; parameters that are not named begin anew.
   * Throws a sentence, and changes nothing, where a record does not fit.
   */
  importState(records: ReadonlyMap<string, StateRecord>): void {
    const sizes = new Map(this.#parameters.map(({ name, shape }) => [name, sizeOf(shape)]))
    const states = [...records].map(([name, record]) => {
      const size = sizes.get(name)
      if (size === undefined) throw new Error(`importState: there is no parameter ${name}`)
      return [name, importedState(name, record, size)] as const
    })
    this.#states.clear()
    for (const [name, state] of states) this.#states.set(name, state)
  }

  async dispose(): Promise<void> {
    for (const program of this.#programs.values()) await program.dispose()
    this.#programs.clear()
  }

  async #muonStep(
    group: ParameterGroup,
    parameters: readonly Parameter[],
    values: Arrays,
    gradients: Arrays,
    gradientScale: number,
  ): Promise<void> {
    const optimiser = group.optimiser as Muon
    const steps = optimiser.newtonSchulzSteps ?? 5
    const key = JSON.stringify([steps, parameters.map(({ name }) => name)])
    let program = this.#programs.get(key)
    if (!program) {
      const shapes = new Map(parameters.map(({ name, shape }) => [name, shape]))
      program = await compileNewtonSchulz(shapes, steps, this.#threads)
      this.#programs.set(key, program)
    }
    const directions = parameters.map(parameter => {
      const state = this.#state(parameter, 'muon')
      return [parameter.name, muonDirection(gradients.get(parameter.name)!, state, optimiser, gradientScale)] as const
    })
    const orthogonal = await program.run(Object.fromEntries(directions))
    for (const { name, shape } of parameters)
      muonMove(values.get(name)!, orthogonal[name] as Float32Array, shape, group.learningRate, group.weightDecay ?? 0)
  }

  #state<K extends State['kind']>({ name, shape }: Parameter, kind: K): StateOf<K> {
    const known = this.#states.get(name)
    if (known?.kind === kind) return known as StateOf<K>
    const created = newState(kind, sizeOf(shape))
    this.#states.set(name, created)
    return created
  }
}

/** L2 norm over all arrays, summed in double precision. */
export function globalNorm(arrays: readonly Float32Array[]): number {
  let sum = 0
  for (const array of arrays) {
    for (let index = 0; index < array.length; index++) sum += array[index]! * array[index]!
  }
  return Math.sqrt(sum)
}
