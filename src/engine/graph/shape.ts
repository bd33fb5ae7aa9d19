/**
 * Arithmetic on static shapes.
 */

export type Shape = readonly number[]

export function sizeOf(shape: Shape): number {
  return shape.reduce((product, size) => product * size, 1)
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis])
}

export function describeShape(shape: Shape): string {
  return `(${shape.join(', ')})`
}

/** The shape that both broadcast to, as NumPy and ONNX do; null when they do not fit. */
export function broadcastShape(a: Shape, b: Shape): number[] | null {
  const rank = Math.max(a.length, b.length)
  const result: number[] = []
  for (let axis = 0; axis < rank; axis++) {
    const sizeA = a[axis - rank + a.length] ?? 1
    const sizeB = b[axis - rank + b.length] ?? 1
    if (sizeA !== sizeB && sizeA !== 1 && sizeB !== 1) return null
    result.push(sizeA === 1 ? sizeB : sizeA)
  }
  return result
}

/** An axis counted from the front; negative ones count from the back. Throws for one that is not there. */
export function resolveAxis(axis: number, shape: Shape, operation: string): number {
  const resolved = axis < 0 ? axis + shape.length : axis
  if (!Number.isInteger(axis) || resolved < 0 || resolved >= shape.length)
    throw new Error(`${operation}: axis ${axis} is not one of a tensor of shape ${describeShape(shape)}`)
  return resolved
}
