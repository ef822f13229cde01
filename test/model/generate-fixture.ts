import { Rng, type Tokenizer } from '../../src/core/index.ts';
import {
  type GeneratingModel,
  type Grid,
  initialValues,
  loadParameters,
  type ModelConfig,
  type ProcessedImage,
  parseModelConfig,
  type Sequence,
} from '../../src/model/index.ts';

/** Special tokens of the tiny model, behind 40 plain ones. Ids 47 and 48 are beyond the tokenizer. */
export const TINY = {
  endOfText: 40,
  turnEnd: 41,
  visionStart: 42,
  visionEnd: 43,
  imagePad: 44,
  videoPad: 45,
};
const SPECIALS = [40, 41, 42, 43, 44, 45, 46];

const tinyJson = {
  model_type: 'qwen2_5_vl',
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 48,
  max_position_embeddings: 256,
  rope_scaling: { type: 'mrope', mrope_section: [1, 1, 2] },
  vocab_size: 49,
  pad_token_id: TINY.endOfText,
  eos_token_id: TINY.turnEnd,
  vision_start_token_id: TINY.visionStart,
  vision_end_token_id: TINY.visionEnd,
  image_token_id: TINY.imagePad,
  video_token_id: TINY.videoPad,
  vision_config: {
    depth: 2,
    hidden_size: 32,
    num_heads: 2,
    intermediate_size: 40,
    out_hidden_size: 32,
    patch_size: 4,
    window_size: 16,
    fullatt_block_indexes: [1],
  },
};

export const tinyConfig = (tied = false): ModelConfig =>
  parseModelConfig({ ...tinyJson, tie_word_embeddings: tied });

/** One character per plain token; special tokens read <id>. */
export const tinyTokenizer: Tokenizer = {
  vocabularySize: 47,
  endOfSequenceIds: [TINY.turnEnd, TINY.endOfText],
  padId: TINY.endOfText,
  encode: (text) => [...text].map((character) => character.charCodeAt(0) - 48),
  decode: (ids, options) =>
    ids
      .map((id) => {
        if (!SPECIALS.includes(id)) return String.fromCharCode(48 + id);
        return options?.keepSpecial === true ? `<${id}>` : '';
      })
      .join(''),
  tokenId: () => undefined,
};

/** New weights with logits of a standard deviation of about 2, so that the choice of tokens matters. */
export function tinyModel(options: { seed?: number; tied?: boolean } = {}): GeneratingModel {
  const { seed = 1, tied = false } = options;
  const config = tinyConfig(tied);
  const values = initialValues(config, new Rng(seed));
  const noise = new Rng(`${seed}-bias`);
  for (const [name, value] of values) {
    // Biases start at 0 in training; here they must differ so that a lost bias shows.
    if (name.endsWith('.bias')) value.data = Float32Array.from(value.data, () => noise.normal(0, 0.2));
    if (name === (tied ? 'model.norm.weight' : 'lm_head.weight'))
      value.data = Float32Array.from(value.data, (x) => x * (tied ? 8 : 20));
  }
  return { config, parameters: loadParameters(config, values), tokenizer: tinyTokenizer };
}

export function tinyImage(seed: number, grid: Grid): ProcessedImage {
  const rng = new Rng(`image-${seed}`);
  const patches = Float32Array.from({ length: grid.h * grid.w * 3 * 2 * 4 * 4 }, () => rng.normal());
  return { patches, grid };
}

/** Plain tokens around the given images: words before the images, words after them. */
export function tinyPrompt(before: number[], images: ProcessedImage[], after: number[]): Sequence {
  const tokenIds = [...before];
  for (const { grid } of images) {
    tokenIds.push(TINY.visionStart, ...new Array<number>((grid.h * grid.w) / 4).fill(TINY.imagePad));
    tokenIds.push(TINY.visionEnd);
  }
  tokenIds.push(...after);
  return { tokenIds, roles: tokenIds.map(() => 'prompt'), images };
}

/** Prompts of unequal length with none, one and two images of two grids, one image shared. */
export function mixedPrompts(): Sequence[] {
  const square = tinyImage(1, { h: 8, w: 8 });
  const wide = tinyImage(2, { h: 4, w: 12 });
  return [
    tinyPrompt([1, 2, 3], [square], [4, 5]),
    tinyPrompt([7], [], [8, 9, 10]),
    tinyPrompt([11, 12], [wide, square], [13, 14, 15, 16, 17, 18]),
    tinyPrompt([], [wide], [20]),
  ];
}
