/** What an option is called, wherever it stands. */

/** `train.py:MATRIX_LR` and `matrix_lr` are `matrixlr`; the dots of a configuration's path stay. */
export function optionName(option: string): string {
  return option
    .slice(option.lastIndexOf(':') + 1)
    .replace(/[_-]/g, '')
    .toLowerCase()
}
