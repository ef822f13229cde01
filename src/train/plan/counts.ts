import {
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
    patches: imageTokens * mergeSize ** 2,
    imageTokens,
    prompt,
    sequence: prompt + plan.responseTokens,
    rows,
    micro: Math.min(plan.microBatch, rows),
  };
}

function trainedOf(
  config: ModelConfig,
  { lora, freeze }: PlanConfig,
  total: (names: Iterable<string>) => number,
): number {
  if (lora === null) return total(trainableNames(parameterShapes(config).keys(), freeze));
  let sum = 0;
  for (const { input, output } of loraTargets(config, lora).values()) sum += lora.rank * (input + output);
  return sum;
}

/** Whether the vision tower or the merger is trained, so that their activations are kept. */
export const trainsPictures = ({ lora, freeze, stage }: PlanConfig): boolean =>
  stage !== 'score' && (lora === null ? !freeze.vision || !freeze.merger : lora.vision || lora.merger);
