/** The user must correct something (the call, the environment file, a file they name) before this can work. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
