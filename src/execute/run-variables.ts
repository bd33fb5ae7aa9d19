/**
 * The environment variables of a run: few, so that a run means the same tomorrow and does not see what it need not.
 */

const always = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const

export interface VariableChoice {
  readonly inherit: NodeJS.ProcessEnv
  /** Names of further variables that the environment's configuration asks for. */
  readonly pass: readonly string[]
  /** Which of the concurrent places this run has, from 0. */
  readonly slot: number
  /** Values of CUDA_VISIBLE_DEVICES, one a slot; used in turn when there are more slots. */
  readonly devices?: readonly string[]
}

/**
 * PATH, HOME, LANG and TMPDIR always; `ALMANAC_SLOT`; CUDA_VISIBLE_DEVICES where devices are given; other variables
 * only by name.
 */
export function runVariables({ inherit, pass, slot, devices }: VariableChoice): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const name of [...always, ...pass]) {
    const value = inherit[name]
    if (value !== undefined) variables[name] = value
  }
  variables['ALMANAC_SLOT'] = String(slot)
  const device = devices?.[slot % devices.length]
  if (device !== undefined) variables['CUDA_VISIBLE_DEVICES'] = device
  return variables
}
