/**
 * Whether a model from outside can have the blocks that it says: a number in a small text, for which building the model would make
 * parameters without end. All other sizes are compared with the tensors when the model is built, which costs nothing.
 */

/** How configurations call it. */
const depths = ['depth', 'encoderDepth']

/** Each block has tensors of its own. Throws a sentence where there are more blocks than the file has tensors. */
export function checkDepth(configuration: Readonly<Record<string, unknown>>, tensors: number, file: string): void {
  for (const field of depths) {
    const depth = configuration[field]
    if (typeof depth === 'number' && depth > tensors)
      throw new Error(`it says that ${field} is ${depth}, and ${file} holds ${tensors} tensors, fewer than one a block`)
  }
}
