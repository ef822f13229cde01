import type { ModelConfig } from '../../src/model/index.ts';

/** Floating-point operations of the matrix products of a training step, backward counted as twice forward. */
export function trainingFlops(
  { text, vision }: ModelConfig,
  work: { rows: number; length: number; scored: number; images: number; patches: number },
): number {
  const { hiddenSize, heads, keyValueHeads, headSize, intermediateSize } = text;
  const tokens = work.rows * work.length;
  const layer =
    2 * tokens * hiddenSize * headSize * (2 * heads + 2 * keyValueHeads) +
    2 * tokens * hiddenSize * intermediateSize * 3 +
    4 * work.rows * heads * work.length ** 2 * headSize;
  const language = text.layers * layer + 2 * work.scored * hiddenSize * text.vocabularySize;
  return 3 * (language + visionFlops(vision, work.images * work.patches, work.patches));
}

function visionFlops(vision: ModelConfig['vision'], patches: number, perImage: number): number {
  const { hiddenSize: width, intermediateSize, depth, fullAttentionBlocks, spatialMergeSize } = vision;
  const perWindow = Math.min(perImage, (vision.windowSize / vision.patchSize) ** 2);
  let total = 2 * patches * 3 * vision.temporalPatchSize * vision.patchSize ** 2 * width;
  for (let block = 0; block < depth; block++) {
    const seen = fullAttentionBlocks.includes(block) ? perImage : perWindow;
    total += 2 * patches * width * (4 * width + 3 * intermediateSize) + 4 * patches * seen * width;
  }
  const merged = width * spatialMergeSize ** 2;
  return total + (2 * patches * merged * (merged + vision.outHiddenSize)) / spatialMergeSize ** 2;
}
