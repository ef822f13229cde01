import {
  EMBEDDING_NAME,
  type ImageProcessorConfig,
  imageTokenCount,
  loraTargets,
  type ModelConfig,
  parameterShapes,
  sizeOf,
  smartResize,
} from '../../model/index.ts';
import { trainableNames } from '../trainable.ts';
import type { PlanConfig } from './plan.config.ts';

/** Numbers that memory and time follow from. */
export interface Counts {
  parameters: number;
  trained: number;
  /** Parameters read to write one token: the language model's layers, the head and adapters of them. */
  readPerToken: number;
  /** Size of a picture as the model sees it, in patches and in tokens. */
  patches: number;
  imageTokens: number;
  /** Tokens of the question with its picture, and of the whole sequence. */
  prompt: number;
  sequence: number;
  /** Sequences of one optimiser step. */
  rows: number;
  /** Sequences of one forward pass of an update. */
  micro: number;
}

export function countsOf(config: ModelConfig, processor: ImageProcessorConfig, plan: PlanConfig): Counts {
  const shapes = parameterShapes(config);
  const total = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + sizeOf(shapes.get(name)!), 0);
  const { views, patchSize, mergeSize, minPixels } = processor;
  const seen =
    views === null
      ? smartResize(plan.picture.height, plan.picture.width, {
          factor: patchSize * mergeSize,
          minPixels,
          maxPixels: plan.maxPixels ?? processor.maxPixels,
        })
      : { height: views.crop, width: views.crop };
  const imageTokens = imageTokenCount({ h: seen.height / patchSize, w: seen.width / patchSize }, mergeSize);
  const prompt = plan.promptTokens + imageTokens;
  // A picture is scored in all its views, trained in one of them.
  const shown = plan.stage === 'score' ? (views?.count ?? 1) : 1;
  const rows = plan.stage === 'grpo' ? plan.promptsPerStep * plan.groupSize : plan.batch * shown;
  return {
    parameters: total(shapes.keys()),
    trained: plan.stage === 'score' ? 0 : trainedOf(config, plan, total),
    readPerToken:
      total(decodingNames(config)) + (plan.stage === 'score' ? 0 : adapterOf(config, plan, false)),
    patches: imageTokens * mergeSize ** 2,
    imageTokens,
    prompt,
    sequence: prompt + plan.responseTokens,
    rows,
    micro: Math.min(plan.microBatch, rows),
  };
}

/** Pictures are encoded before, and of an embedding that is not the head as well one row is looked up. */
function decodingNames(config: ModelConfig): string[] {
  return [...parameterShapes(config).keys()].filter(
    (name) => !name.startsWith('visual.') && (name !== EMBEDDING_NAME || config.text.tieWordEmbeddings),
  );
}

function trainedOf(
  config: ModelConfig,
  plan: PlanConfig,
  total: (names: Iterable<string>) => number,
): number {
  if (plan.lora === null) {
    const freeze = { vision: isFrozen('vision', plan), merger: isFrozen('merger', plan) };
    return total(trainableNames(parameterShapes(config).keys(), freeze));
  }
  return adapterOf(config, plan, true);
}

/** Numbers of the adapter, those of vision tower and merger with it or not. */
function adapterOf(config: ModelConfig, { lora }: PlanConfig, ofPictures: boolean): number {
  if (lora === null) return 0;
  let sum = 0;
  for (const [layer, { input, output }] of loraTargets(config, lora)) {
    if (ofPictures || !layer.startsWith('visual.')) sum += lora.rank * (input + output);
  }
  return sum;
}

/** What a stage keeps as it is where nothing is set: the defaults of its own configuration. */
const FROZEN: Readonly<Record<PlanConfig['stage'], { vision: boolean; merger: boolean }>> = {
  'cold-start': { vision: false, merger: false },
  grpo: { vision: true, merger: false },
  score: { vision: true, merger: true },
};

const isFrozen = (part: 'vision' | 'merger', { freeze, stage }: PlanConfig): boolean =>
  freeze[part] ?? FROZEN[stage][part];

const isTrained = (part: 'vision' | 'merger', plan: PlanConfig): boolean =>
  plan.stage !== 'score' && (plan.lora === null ? !isFrozen(part, plan) : plan.lora[part]);

/** Whether the vision tower is trained, so that its activations are kept. */
export const trainsTower = (plan: PlanConfig): boolean => isTrained('vision', plan);

/** Whether gradients go through the merger: it is trained, or the tower behind it. */
export const trainsPictures = (plan: PlanConfig): boolean => trainsTower(plan) || isTrained('merger', plan);
