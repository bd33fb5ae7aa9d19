/**
 * What a model builds, checked: the runtime would compute with tensors of any shape, and a user's own model may give any.
 */

import { requireShape, type Tensor } from '../graph/graph.ts'
import { describeShape } from '../graph/shape.ts'
import { described } from '../required-types.ts'
import type { BuildInputs, Model, ModelOutputs } from './model.ts'

/** Throws a sentence for a parameter that the model does not have, and for logits or read-outs that are not there or not of their shape. */
export function builtModel(model: Model, inputs: BuildInputs, capture: readonly string[] = []): ModelOutputs {
  const { kind, vocabulary, readouts } = model
  const outputs = model.build({ ...inputs, parameters: new NamedTensors(kind, inputs.parameters) })
  const positions = inputs.rows * inputs.positions
  const expect = (what: string, tensor: Tensor | undefined, size: number) => {
    const place = `the model ${described(kind)}: ${what}`
    if (!tensor) throw new Error(`${place}: build gave none: expected shape ${describeShape([positions, size])}`)
    requireShape(tensor, [positions, size], place)
  }
  expect('logits, (rows × positions, vocabulary)', outputs.logits, vocabulary)
  if (outputs.innerLogits) expect('innerLogits, (rows × positions, vocabulary)', outputs.innerLogits, vocabulary)
  for (const name of capture) expect(`the read-out ${name}`, outputs.readouts.get(name), readouts[name]!)
  return outputs
}

class NamedTensors extends Map<string, Tensor> {
  readonly #kind: string

  constructor(kind: string, tensors: ReadonlyMap<string, Tensor>) {
    super(tensors)
    this.#kind = kind
  }

  override get(name: string): Tensor {
    const tensor = super.get(name)
    if (!tensor)
      throw new Error(
        `the model ${described(this.#kind)} has no parameter ${described(name)}, which build asks for: ` +
          `there are ${[...this.keys()].join(', ')}`,
      )
    return tensor
  }
}
