/**
 * What tokenizer.json must have for the package that reads it to mean what the file says.
 */
import { z } from 'zod'
import { mendedPreTokenizer } from './pre-tokenizer.ts'

const id = z
  .int()
  .nonnegative()
  .max(2 ** 31 - 1)
const schema = z.looseObject({
  added_tokens: z
    .array(z.looseObject({ id, content: z.string().min(1), special: z.boolean() }))
    .nullish()
    .transform(tokens => tokens ?? []),
  normalizer: z.looseObject({}).nullish(),
  pre_tokenizer: z.looseObject({}).nullish(),
  post_processor: z.looseObject({}).nullish(),
  decoder: z.looseObject({}).nullish(),
  model: z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('BPE'),
      vocab: z.record(z.string(), id),
      merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
      unk_token: z.string().nullish(),
    }),
    z.looseObject({ type: z.literal('WordPiece'), vocab: z.record(z.string(), id), unk_token: z.string() }),
    z.looseObject({ type: z.literal('WordLevel'), vocab: z.record(z.string(), id), unk_token: z.string().nullish() }),
    z.looseObject({
      type: z.literal('Unigram'),
      vocab: z.array(z.tuple([z.string(), z.number()])),
      unk_id: id.nullish(),
    }),
  ]),
})

export type TokenizerFile = z.infer<typeof schema>

export interface CheckedTokenizerFile {
  readonly file: TokenizerFile
  /** The token for what is unknown, where there is one. */
  readonly unknown: string | null
  /** One more than the largest id. */
  readonly vocabulary: number
}

/** Throws a sentence with all that is wrong. */
export function checkedTokenizerFile(value: unknown): CheckedTokenizerFile {
  const parsed = schema.safeParse(value)
  if (!parsed.success)
    throw new Error(
      parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`).join('; '),
    )
  const { normalizer = null, pre_tokenizer = null, post_processor = null, decoder = null, ...rest } = parsed.data
  // The package asks for all of them, if only for null.
  const file = { ...rest, normalizer, pre_tokenizer: mendedPreTokenizer(pre_tokenizer), post_processor, decoder }
  const { model } = file
  const ids = model.type === 'Unigram' ? model.vocab.map((_, index) => index) : Object.values(model.vocab)
  const unknown = model.type === 'Unigram' ? (model.vocab[model.unk_id ?? -1]?.[0] ?? null) : (model.unk_token ?? null)
  let largest = -1
  for (const each of [...ids, ...file.added_tokens.map(token => token.id)]) largest = Math.max(largest, each)
  if (largest < 0) throw new Error('it has no tokens')
  return { file, unknown, vocabulary: largest + 1 }
}
