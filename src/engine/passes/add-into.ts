/** Sums of gradients, array by array. */

/** Adds `fresh` to `sums`, which is written and given back. Both have the same names, and each name the same length. */
export function addInto(
  sums: Map<string, Float32Array>,
  fresh: ReadonlyMap<string, Float32Array>,
): Map<string, Float32Array> {
  for (const [name, sum] of sums) {
    const array = fresh.get(name)!
    for (let index = 0; index < sum.length; index++) sum[index]! += array[index]!
  }
  return sums
}
