/**
 * Numbers and tables as Markdown.
 */
import { type Estimate, intervalOf } from '../../src/statistics/bootstrap.ts'

/** `0.70 [0.51, 0.88]`; `none` where it is not defined. */
export function estimateText(estimate: Estimate, decimals: number): string {
  if (Number.isNaN(estimate.value)) return 'none'
  const { low, high } = intervalOf(estimate)
  const text = numberText(estimate.value, decimals)
  return Number.isNaN(low) ? text : `${text} [${numberText(low, decimals)}, ${numberText(high, decimals)}]`
}

/** `−58 % [−67, −40]`. */
export function percentText(estimate: Estimate): string {
  if (Number.isNaN(estimate.value)) return 'none'
  const { low, high } = intervalOf(estimate)
  const percent = (share: number) => numberText(100 * share, 0)
  return `${percent(estimate.value)} % [${percent(low)}, ${percent(high)}]`
}

/** With a true minus sign, and none before zero. */
export function numberText(value: number, decimals: number): string {
  const digits = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(digits) !== 0 ? `−${digits}` : digits
}

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n')
}
