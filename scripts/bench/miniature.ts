import { fileURLToPath } from 'node:url';
import { type RgbImage, Rng } from '../../src/core/index.ts';
import {
  appendTokens,
  type Batch,
  collate,
  createModel,
  initialValues,
  loadModelFormat,
  type ProcessedImage,
  preprocess,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../../src/model/index.ts';

export const MINIATURE_SHAPE = { images: 16, side: 112, length: 110, samples: 8, newTokens: 60 } as const;

export interface MiniatureCase {
  model: VisionLanguageModel;
  batch: Batch;
  prompts: Sequence[];
}

export const MINIATURE_MODEL = fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url));

/** The shipped miniature from random weights, on pictures of noise: speed does not depend on what they show. */
export async function loadMiniatureCase(): Promise<MiniatureCase> {
  const rng = new Rng('bench');
  const format = await loadModelFormat(MINIATURE_MODEL);
  const model = createModel(format, initialValues(format.config, rng));
  const { images, length } = MINIATURE_SHAPE;
  const prompts = Array.from({ length: images }, () => {
    const image: ProcessedImage = preprocess(noise(rng), model.processor);
    const content = [
      { type: 'image' as const },
      { type: 'text' as const, text: 'How good is the quality of this picture?' },
    ];
    return promptSequence(model, [{ role: 'user', content }], [image]);
  });
  const sequences = prompts.map((prompt) => {
    const response = Array.from({ length: length - prompt.tokenIds.length }, () => 10 + rng.integer(500));
    return appendTokens(prompt, response, 'action');
  });
  return { model, prompts, batch: collate(sequences, model.config) };
}

function noise(rng: Rng): RgbImage {
  const { side } = MINIATURE_SHAPE;
  const data = Uint8Array.from({ length: side * side * 3 }, () => rng.integer(256));
  return { data, width: side, height: side };
}
