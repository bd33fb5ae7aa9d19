/**
 * Whether two numbers may be one that was printed twice, with more and with fewer digits.
 */

export function isPrintedAlike(a: number, b: number): boolean {
  const digits = Math.min(decimals(a), decimals(b))
  return Math.abs(a - b) <= 0.5 * 10 ** -digits * (1 + 1e-9)
}

function decimals(value: number): number {
  const [mantissa, exponent = '0'] = String(value).split('e')
  return Math.max(0, (mantissa!.split('.')[1]?.length ?? 0) - Number(exponent))
}
