import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { CheckpointError, type Tokenizer } from '../core/index.ts';
import type { AnyModelConfig } from './config.ts';

const tokenizerSchema = z.looseObject({
  model: z.looseObject({ type: z.literal('BPE') }),
  added_tokens: z.array(z.looseObject({ id: z.int().min(0), content: z.string() })),
});

/** What every tokenizer of this kind must give back unchanged. */
const PROBE = 'The score is 3.45.\n';

/** A tokenizer.json (byte-level BPE, as Qwen2 uses) behind the product's own interface. */
export class BpeTokenizer implements Tokenizer {
  readonly vocabularySize: number;
  readonly endOfSequenceIds: readonly number[];
  readonly padId: number;
  readonly #inner: HuggingFaceTokenizer;

  /** CheckpointError when the files are not a BPE tokenizer or disagree with the model's configuration. */
  constructor(
    tokenizerJson: unknown,
    tokenizerConfig: unknown,
    config: AnyModelConfig,
    origin = 'tokenizer.json',
  ) {
    const parsed = tokenizerSchema.safeParse(tokenizerJson);
    if (!parsed.success) {
      const problem = parsed.error.issues[0]!;
      throw new CheckpointError(
        `${origin} is not a BPE tokenizer: ${problem.path.join('.')} ${problem.message}`,
      );
    }
    try {
      this.#inner = new HuggingFaceTokenizer(tokenizerJson as object, tokenizerConfig as object);
      let highest = 0;
      // Spread into Math.max, a vocabulary of Qwen's size would fill the stack.
      for (const id of this.#inner.get_vocab(true).values()) highest = Math.max(highest, id);
      this.vocabularySize = 1 + highest;
    } catch (error) {
      throw new CheckpointError(`${origin} is not a usable tokenizer: ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.#requireRoundTrip(origin);
    if (this.vocabularySize > config.text.vocabularySize) {
      throw new CheckpointError(
        `${origin} has ${this.vocabularySize} tokens, the model only ${config.text.vocabularySize}`,
        { hint: 'tokenizer.json and config.json must come from the same model' },
      );
    }
    requireSpecialTokens(parsed.data.added_tokens, config, origin);
    this.endOfSequenceIds = this.#endIds(config, origin);
    this.padId = config.tokens.pad ?? this.endOfSequenceIds[0]!;
  }

  encode(text: string): number[] {
    return this.#inner.encode(text, { add_special_tokens: false }).ids;
  }

  /** The text of the ids; special tokens are left out unless `keepSpecial`. Broken UTF-8 becomes U+FFFD. */
  decode(ids: readonly number[], options: { keepSpecial?: boolean } = {}): string {
    if (ids.length === 0) return ''; // the library refuses an empty list
    return this.#inner.decode([...ids], {
      skip_special_tokens: !(options.keepSpecial ?? false),
      clean_up_tokenization_spaces: false,
    });
  }

  tokenId(token: string): number | undefined {
    return this.#inner.token_to_id(token);
  }

  /** The library looks at parts such as the decoder only when it uses them, so they are used once, here. */
  #requireRoundTrip(origin: string): void {
    let got: string;
    try {
      got = this.decode(this.encode(PROBE), { keepSpecial: true });
    } catch (error) {
      throw new CheckpointError(`${origin} is not a usable tokenizer: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (got !== PROBE) {
      throw new CheckpointError(`${origin} reads ${JSON.stringify(PROBE)} back as ${JSON.stringify(got)}`, {
        hint: 'it must be a byte-level BPE tokenizer with its pre_tokenizer and decoder',
      });
    }
  }

  /** A turn ends with <|im_end|>, a document with <|endoftext|>; either stops generation. */
  #endIds(config: AnyModelConfig, origin: string): number[] {
    const named = ['<|im_end|>', '<|endoftext|>'].map((token) => this.tokenId(token));
    const ids = new Set([...named, ...config.tokens.eos].filter((id) => id !== undefined));
    if (ids.size === 0) throw new CheckpointError(`${origin} has no end-of-sequence token`);
    return [...ids];
  }
}

/** Qwen's names of the tokens that config.json gives by id. */
const NAMED_TOKENS = [
  ['image_token_id', 'imagePad', '<|image_pad|>'],
  ['video_token_id', 'videoPad', '<|video_pad|>'],
  ['vision_start_token_id', 'visionStart', '<|vision_start|>'],
  ['vision_end_token_id', 'visionEnd', '<|vision_end|>'],
] as const;

/** The places of pictures are found by id, in a text that the tokenizer cut: both must mean the same tokens. */
function requireSpecialTokens(
  added: readonly { id: number; content: string }[],
  config: AnyModelConfig,
  origin: string,
): void {
  if (config.vision === null) return;
  const { tokens } = config;
  const problems = NAMED_TOKENS.flatMap(([key, field, name]) => {
    const id = tokens[field];
    const token = added.find((one) => one.content === name);
    if (token === undefined) return [`it lacks ${name} (${key} ${id})`];
    return token.id === id ? [] : [`${name} is ${token.id}, config.json says ${key} ${id}`];
  });
  if (problems.length === 0) return;
  throw new CheckpointError(`${origin} is the tokenizer of another model: ${problems.join('; ')}`, {
    hint: 'tokenizer.json and config.json must come from the same model',
  });
}
