import { join } from 'node:path';
import { Rng, type Tokenizer, type TokenRole, writeFileAtomic } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import { SafetensorsFile, writeSafetensors } from '../../src/formats/index.ts';
import {
  type Batch,
  collate,
  type GeneratingModel,
  initialValues,
  type Parameters,
  parseModelConfig,
  readJsonFile,
  type Sequence,
} from '../../src/model/index.ts';

/** Everything about the language model's cases, as the engines' processes read it from a file. */
export interface LanguageSetup {
  config: unknown;
  /** Batches of [rows, tokens]: the first token is given, the others are learnt. */
  batches: number[][][];
  prompts: number[][];
  newTokens: number;
  bannedTokenIds: number[];
  learningRate: number;
  betas: [number, number];
  epsilon: number;
  weightDecay: number;
  clipNorm: number;
}

export const LANGUAGE_SHAPE = { batch: 16, length: 96, rows: 64, newTokens: 64, promptLength: 4 } as const;

const FIRST_SPECIAL = 1019;
const BANNED = [FIRST_SPECIAL, 1020, 1021, 1022, 1023];

/** Four layers of width 192; 1.8 M parameters. The vision tower is never built. */
export const LANGUAGE_CONFIG = {
  model_type: 'qwen2_5_vl',
  hidden_size: 192,
  num_hidden_layers: 4,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  intermediate_size: 512,
  vocab_size: 1024,
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  rope_scaling: { type: 'mrope', mrope_section: [4, 6, 6] },
  tie_word_embeddings: true,
  pad_token_id: FIRST_SPECIAL,
  vision_start_token_id: 1020,
  vision_end_token_id: 1021,
  image_token_id: 1022,
  video_token_id: 1023,
  vision_config: {
    hidden_size: 64,
    num_heads: 4,
    depth: 1,
    out_hidden_size: 192,
    fullatt_block_indexes: [0],
  },
};

const SETUP = 'setup.json';
const WEIGHTS = 'model.safetensors';

/** Writes weights and data once, so that every engine starts from the same numbers. */
export async function writeLanguageSetup(folder: string): Promise<void> {
  const rng = new Rng('bench');
  const config = parseModelConfig(LANGUAGE_CONFIG);
  const weights = [...initialValues(config, rng)].filter(([name]) => name.startsWith('model.'));
  const { batch, length, rows, newTokens, promptLength } = LANGUAGE_SHAPE;
  const setup: LanguageSetup = {
    config: LANGUAGE_CONFIG,
    batches: Array.from({ length: 4 }, () => Array.from({ length: batch }, () => chain(rng, length))),
    prompts: Array.from({ length: rows }, () => chain(rng, promptLength)),
    newTokens,
    bannedTokenIds: BANNED,
    learningRate: 1e-3,
    betas: [0.9, 0.999],
    epsilon: 1e-8,
    weightDecay: 0.01,
    clipNorm: 1,
  };
  await writeSafetensors(join(folder, WEIGHTS), new Map(weights));
  await writeFileAtomic(join(folder, SETUP), JSON.stringify(setup));
}

/** A noisy arithmetic sequence: something to learn. */
function chain(rng: Rng, length: number): number[] {
  const tokens = [rng.integer(FIRST_SPECIAL)];
  while (tokens.length < length)
    tokens.push((tokens.at(-1)! * 7 + (rng.uniform() < 0.5 ? 1 : 3)) % FIRST_SPECIAL);
  return tokens;
}

export interface LanguageCase {
  setup: LanguageSetup;
  model: GeneratingModel;
  batches: Batch[];
  prompts: Sequence[];
}

export async function loadLanguageCase(folder: string): Promise<LanguageCase> {
  const setup = (await readJsonFile(join(folder, SETUP))) as LanguageSetup;
  const config = parseModelConfig(setup.config);
  const parameters: Parameters = new Map();
  const file = await SafetensorsFile.open(join(folder, WEIGHTS));
  for (const name of file.tensors.keys()) {
    const { shape, data } = await file.read(name);
    parameters.set(
      name,
      tf.tidy(() => tf.variable(tf.tensor(data, [...shape], 'float32'))),
    );
  }
  await file.close();
  const learnt = (tokenIds: number[]): Sequence => ({
    tokenIds,
    roles: tokenIds.map((_, i): TokenRole => (i === 0 ? 'prompt' : 'action')),
    images: [],
  });
  return {
    setup,
    model: { config, parameters, tokenizer: endless(config.text.vocabularySize) },
    batches: setup.batches.map((rows) => collate(rows.map(learnt), config)),
    prompts: setup.prompts.map((tokenIds) => ({
      tokenIds,
      roles: tokenIds.map((): TokenRole => 'prompt'),
      images: [],
    })),
  };
}

/** No end-of-sequence token: every row is as long as asked. */
function endless(vocabularySize: number): Tokenizer {
  return {
    vocabularySize,
    endOfSequenceIds: [],
    padId: FIRST_SPECIAL,
    encode: () => [],
    decode: (ids) => ids.join(' '),
    tokenId: () => undefined,
  };
}
