import type { ModelConfig, VisionConfig } from '../../model/index.ts';

/** Tokens that go through the language model in one pass. */
export interface LanguageWork {
  rows: number;
  /** Tokens of a row that are computed. */
  length: number;
  /** Tokens that each of them attends over; the mask hides some, they are computed all the same. */
  attended: number;
  /** Rows of hidden states that become logits. */
  scored: number;
}

/** Floating-point operations of the matrix products of the language model, forward. */
export function languageFlops({ text }: Pick<ModelConfig, 'text'>, work: LanguageWork): number {
  const { hiddenSize, heads, keyValueHeads, headSize, intermediateSize } = text;
  const tokens = work.rows * work.length;
  const layer =
    2 * tokens * hiddenSize * headSize * (2 * heads + 2 * keyValueHeads) +
    2 * tokens * hiddenSize * intermediateSize * 3 +
    4 * tokens * heads * work.attended * headSize;
  return text.layers * layer + 2 * work.scored * hiddenSize * text.vocabularySize;
}

/** Those of the vision tower, without the merger, on `images` pictures of `perImage` patches, forward. */
export function towerFlops(vision: VisionConfig, images: number, perImage: number): number {
  const { hiddenSize: width, intermediateSize, depth, fullAttentionBlocks } = vision;
  const matrices = vision.mlp === 'swiglu' ? 3 : 2;
  const patches = images * perImage;
  const perWindow = Math.min(perImage, (vision.windowSize / vision.patchSize) ** 2);
  let total = 2 * patches * 3 * vision.temporalPatchSize * vision.patchSize ** 2 * width;
  for (let block = 0; block < depth; block++) {
    const seen = fullAttentionBlocks.includes(block) ? perImage : perWindow;
    total += 2 * patches * width * (4 * width + matrices * intermediateSize) + 4 * patches * seen * width;
  }
  return total;
}

/** Those of the merger, which makes one token of each merge unit. */
export function mergerFlops(vision: VisionConfig, images: number, perImage: number): number {
  const unit = vision.spatialMergeSize ** 2;
  const merged = vision.hiddenSize * unit;
  return (2 * images * perImage * merged * (merged + vision.outHiddenSize)) / unit;
}

/** Those of a training step that trains everything, backward counted as twice forward. */
export function trainingFlops(
  config: ModelConfig,
  work: { rows: number; length: number; scored: number; images: number; patches: number },
): number {
  const language = languageFlops(config, { ...work, attended: work.length });
  const { vision } = config;
  const pictures =
    towerFlops(vision, work.images, work.patches) + mergerFlops(vision, work.images, work.patches);
  return 3 * (language + pictures);
}
