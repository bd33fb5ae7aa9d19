/**
 * Which group a parameter belongs to, and whether what the groups say makes sense.
 */
import { type Parameter, parameterRoles } from '../parameter.ts'
import { described, type FieldsOf, requireFields, requireList, requireRecord } from '../required-types.ts'
import type { Optimiser, OptimStepOptions, ParameterGroup } from './optimiser.ts'

const optionFields: FieldsOf<OptimStepOptions> = { groups: true, clipNorm: true }
const groupFields: FieldsOf<ParameterGroup> = {
  match: true,
  optimiser: true,
  learningRate: true,
  weightDecay: true,
  frozen: true,
}
const optimiserFields: { readonly [Kind in Optimiser['kind']]: FieldsOf<Extract<Optimiser, { readonly kind: Kind }>> } =
  {
    adamw: { kind: true, betas: true, epsilon: true },
    muon: { kind: true, momentum: true, nesterov: true, newtonSchulzSteps: true },
    lion: { kind: true, betas: true },
    sgd: { kind: true, momentum: true, nesterov: true },
  }

/** Whether the options are what their types say; whether the numbers in them make sense is asked with the parameters. */
export function checkOptimStep(options: OptimStepOptions): void {
  requireFields('optimStep: options', options, optionFields)
  requireList('optimStep: groups', options.groups)
  for (const [index, group] of options.groups.entries()) {
    const place = `optimStep: groups[${index}]`
    requireFields(place, group, groupFields)
    const { match, optimiser } = group
    requireRecord(`${place}.optimiser`, optimiser)
    if (Object.hasOwn(optimiserFields, optimiser.kind))
      requireFields(`${place}.optimiser`, optimiser, optimiserFields[optimiser.kind])
    if (typeof match !== 'string' && typeof match !== 'function' && !Array.isArray(match))
      throw new Error(`${place}.match is ${described(match)}: expected a role, an array of roles, or a function`)
    for (const role of typeof match === 'function' ? [] : [match].flat())
      if (!parameterRoles.includes(role))
        throw new Error(`${place}.match is ${described(role)}: the roles are ${parameterRoles.join(', ')}`)
  }
}

/**
 * The group of each parameter, by name. Throws a sentence for a parameter without one, or one that its optimiser cannot move; and for a
 * predicate that holds for none, which asks for a name that is not there. A role may be absent from a model.
 */
export function assignGroups(
  parameters: readonly Parameter[],
  groups: readonly ParameterGroup[],
): Map<string, ParameterGroup> {
  for (const [index, group] of groups.entries()) {
    const place = `optimStep: groups[${index}]`
    checkGroup(place, group)
    if (typeof group.match === 'function' && !parameters.some(group.match))
      throw new Error(`${place}.match holds for no parameter: there are ${listed(parameters)}`)
  }
  return new Map(
    parameters.map(parameter => {
      const group = groups.find(candidate => matches(candidate, parameter))
      const { name, role, shape } = parameter
      if (!group)
        throw new Error(`optimStep: no group matches ${name} (${role}); add one, frozen if it should not move`)
      if (group.optimiser.kind === 'muon' && shape.length !== 2 && !group.frozen)
        throw new Error(
          `optimStep: Muon moves matrices only, and ${name} has shape (${shape.join(', ')}); use another optimiser for it`,
        )
      return [name, group]
    }),
  )
}

function listed(parameters: readonly Parameter[]): string {
  const names = parameters.slice(0, 8).map(({ name }) => name)
  return `${names.join(', ')}${parameters.length > 8 ? ', …' : ''}`
}

function matches({ match }: ParameterGroup, parameter: Parameter): boolean {
  if (typeof match === 'function') return match(parameter)
  return typeof match === 'string' ? match === parameter.role : match.includes(parameter.role)
}

function checkGroup(place: string, { optimiser, learningRate, weightDecay = 0, frozen = false }: ParameterGroup): void {
  const expect = (holds: boolean, field: string, value: unknown, expected: string) => {
    const shown = Array.isArray(value) ? `[${value.map(described).join(', ')}]` : described(value)
    if (!holds) throw new Error(`${place}.${field} is ${shown}: expected ${expected}`)
  }
  const isFraction = (value: number) => Number.isFinite(value) && value >= 0 && value < 1
  const areFractions = (values: readonly number[]) => values.length === 2 && values.every(isFraction)
  expect(Number.isFinite(learningRate) && learningRate >= 0, 'learningRate', learningRate, 'a number from 0 on')
  expect(Number.isFinite(weightDecay) && weightDecay >= 0, 'weightDecay', weightDecay, 'a number from 0 on')
  expect(typeof frozen === 'boolean', 'frozen', frozen, 'true or false')
  switch (optimiser.kind) {
    case 'adamw': {
      const { betas = [0, 0], epsilon = 1 } = optimiser
      expect(areFractions(betas), 'optimiser.betas', betas, 'two numbers from 0 to below 1')
      // Zero would divide zero by zero where a gradient has been zero from the start, as an unseen token's is.
      expect(Number.isFinite(epsilon) && epsilon > 0, 'optimiser.epsilon', epsilon, 'a positive number')
      return
    }
    case 'muon': {
      const { momentum = 0, newtonSchulzSteps: steps = 1 } = optimiser
      expect(isFraction(momentum), 'optimiser.momentum', momentum, 'a number from 0 to below 1')
      expect(
        Number.isInteger(steps) && steps > 0 && steps <= 100,
        'optimiser.newtonSchulzSteps',
        steps,
        'a whole number from 1 to 100',
      )
      return
    }
    case 'lion': {
      const { betas = [0, 0] } = optimiser
      expect(areFractions(betas), 'optimiser.betas', betas, 'two numbers from 0 to below 1')
      return
    }
    case 'sgd': {
      const { momentum = 0.9, nesterov = false } = optimiser
      expect(isFraction(momentum), 'optimiser.momentum', momentum, 'a number from 0 to below 1')
      expect(!nesterov || momentum > 0, 'optimiser.nesterov', nesterov, 'false where momentum is 0')
      return
    }
    default:
      // Reached by groups that came from outside the types, as from a file.
      expect(false, 'optimiser.kind', (optimiser as { kind: unknown }).kind, 'adamw, muon, lion or sgd')
  }
}
