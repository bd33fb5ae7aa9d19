/** What a user may say about the language model that forecasts: in the environment file, and as flags. */
import { z } from 'zod'
import { parseModelName } from '../../language/model-name.ts'
import { efforts } from '../../language/send.ts'

const count = z.number().int().positive()
const positive = z.number().positive()

const modelName = z.string().superRefine((name, context) => {
  try {
    parseModelName(name)
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message })
  }
})

export const languageSettings = z.strictObject({
  /** `provider/model` of the AI SDK, or the address of an endpoint that speaks the OpenAI protocol and `#model`. */
  model: modelName,
  /** How hard it thinks, where it can be told. */
  effort: z.enum(efforts).optional(),
  /** All candidates in one question, in an order drawn anew for each repeat; else one by one. */
  batch: z.boolean().default(false),
  /** Answers that are averaged. */
  repeats: count.default(1),
  /** The most that one answer may take, thinking included: so much of the budget a question reserves. By default what its effort needs. */
  outputTokens: count.optional(),
  /** Ends the asking before a question that would exceed it. */
  budget: z.strictObject({ tokens: count.optional(), cost: positive.optional() }).default({}),
  /** Of a million tokens: in, in and known to the prompt cache, out; the currency is only printed. */
  price: z
    .strictObject({
      input: positive,
      cached: positive.optional(),
      output: positive,
      currency: z.string().max(12).optional(),
    })
    .optional(),
  /** Questions at once, after the first: many local servers answer one at a time, and the others wait in vain. */
  concurrency: count.optional(),
  /** Tokens that a question and its answer may have together; of a longer history the most telling part is shown. */
  context: count.default(100_000),
  /** Of one answer. Node's own patience with a silent server ends at 300. */
  timeoutSeconds: z.number().positive().max(300).default(300),
  /** When what the model was trained on ends; an evaluation prints it beside the dates of the records. */
  knowledgeUntil: z.iso.date().optional(),
})

export type LanguageInput = z.input<typeof languageSettings>
export type LanguageSettings = z.output<typeof languageSettings>
