/** Language models with their settings from a JSON file: of each what `language` of the environment file may say. */
import { z } from 'zod'
import { fieldProblems } from '../campaign/field-problems.ts'
import { type LanguageSettings, languageSettings } from '../forecast/language/settings.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import { type Context, InputError } from './operation.ts'

const several = z.array(languageSettings).min(1)

export function isModelFile(name: string): boolean {
  return /\.json$/i.test(name) && !/^https?:/i.test(name)
}

/** Throws a sentence for what is no such file. */
export async function modelsInFile(name: string, context: Context): Promise<LanguageSettings[]> {
  const path = pathOfGiven(name, context)
  const text = await textOfGiven(path)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new InputError(`${path} is not JSON (${(cause as Error).message}); correct it.`, { cause })
  }
  const listed = Array.isArray(value) ? value : [value]
  const parsed = several.safeParse(listed)
  if (!parsed.success) throw new InputError(fieldProblems(listed, parsed.error.issues, path).join('\n'))
  return parsed.data
}
