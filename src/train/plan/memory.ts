import type { ModelConfig, VisionConfig } from '../../model/index.ts';
import { LARGEST_PACKED } from '../trainee.ts';
import { type Counts, trainsPictures, trainsTower } from './counts.ts';
import type { PlanConfig } from './plan.config.ts';

export const MEMORY_KINDS = [
  'program',
  'weights',
  'reference',
  'adapter',
  'optimiser',
  'gradients',
  'activations',
  'logits',
  'KV cache',
  'pictures',
] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export interface MemoryPlan {
  /** Bytes of each kind at the moment that takes most. */
  kinds: Record<MemoryKind, number>;
  total: number;
  /** The moment that takes most. */
  peak: 'rollout' | 'update' | 'optimiser step';
}

const MIB = 2 ** 20;
const FLOAT = 4;
/** Node, both libraries and compiled graphs with what they keep: measured on the miniature and on 320 M parameters. */
const PROGRAM = 420 * MIB;
/** Copies of the logits alive at once in the backward pass (logits, scaled, masked, exponentials, gradients). */
const LOGIT_COPIES = 8;
/** Logits that gradient checkpointing has in memory at a time, as `responseLogProbabilities` cuts them. */
const CUT_LOGITS = 2 ** 23 * FLOAT;

/** Floats kept for each token of a block: norms, projections, attention, gate and up. */
const blockFloats = (width: number, keyValue: number, inner: number, attention: number): number =>
  6 * width + 4 * keyValue + 4 * inner + attention;

/** Floats kept for each token of the merger: what it gets, norm, the first layer, GELU and the second one. */
const mergerFloats = ({ hiddenSize, spatialMergeSize, outHiddenSize }: VisionConfig): number =>
  4 * hiddenSize * spatialMergeSize ** 2 + outHiddenSize;

/**
 * Memory of a stage, by kind, from shapes alone. The engine computes in 32-bit floats; `precision: bfloat16` halves
 * frozen weights and caches, and gives trained weights a 16-bit copy beside their 32-bit ones, as mixed-precision
 * training of other libraries does.
 */
export function memoryPlan(config: ModelConfig, counts: Counts, plan: PlanConfig): MemoryPlan {
  const { text, vision } = config;
  const half = plan.precision === 'bfloat16';
  const width = half ? 2 : FLOAT;
  const { trained, parameters, micro, sequence, rows } = counts;
  const adapted = plan.lora !== null && plan.stage !== 'score';
  const whole = adapted ? 0 : trained;
  const base = {
    program: PROGRAM,
    weights: parameters * width + (half ? whole * FLOAT : 0),
    reference: plan.stage === 'grpo' && plan.klCoefficient > 0 && !adapted ? parameters * width : 0,
    adapter: adapted ? trained * FLOAT : 0,
    optimiser: trained * 2 * FLOAT,
    pictures: plan.pictures * plan.picture.width * plan.picture.height * 3,
  };

  const keyValue = text.keyValueHeads * text.headSize;
  const languageBlock =
    micro *
    sequence *
    blockFloats(text.hiddenSize, keyValue, text.intermediateSize, text.heads * sequence) *
    width;
  const seen = Math.min(counts.patches, (vision.windowSize / vision.patchSize) ** 2);
  const visionBlock =
    micro *
    counts.patches *
    blockFloats(vision.hiddenSize, vision.hiddenSize, vision.intermediateSize, vision.heads * seen) *
    width;
  const kept = (blocks: number, block: number, input: number): number =>
    plan.gradientCheckpointing ? blocks * input * width + 2 * block : blocks * block;
  const activations =
    kept(text.layers, languageBlock, micro * sequence * text.hiddenSize) +
    (trainsTower(plan)
      ? kept(vision.depth, visionBlock, micro * counts.patches * vision.hiddenSize)
      : visionBlock) +
    (trainsPictures(plan) ? micro * counts.imageTokens * mergerFloats(vision) * width : 0);
  const scored = micro * plan.responseTokens * text.vocabularySize * FLOAT;
  const logits = LOGIT_COPIES * (plan.gradientCheckpointing ? Math.min(CUT_LOGITS, scored) : scored);

  const cacheOf = (tokens: number): number => 2 * text.layers * keyValue * tokens * width;
  const prompts = plan.stage === 'grpo' ? plan.promptsPerStep : rows;
  const moments = {
    rollout: {
      gradients: 0,
      activations:
        (languageBlock / micro / sequence) * prompts * counts.prompt + (visionBlock / micro) * prompts,
      logits: rows * text.vocabularySize * FLOAT * 3,
      // What was answered grows by copying.
      'KV cache': cacheOf(prompts * counts.prompt) + 2 * cacheOf(rows * plan.responseTokens),
    },
    update: {
      gradients: trained * FLOAT * (micro < rows ? 2 : 1),
      activations,
      logits,
      'KV cache': 0,
    },
    // New moments, new weights and the gradients as one vector stand beside the old ones; of a large model those of
    // one parameter, which is little.
    'optimiser step': {
      gradients: trained * FLOAT * (trained > LARGEST_PACKED ? 1 : 5),
      activations: 0,
      logits: 0,
      'KV cache': 0,
    },
  } as const;
  const possible = (Object.keys(moments) as (keyof typeof moments)[]).filter(
    (name) =>
      (plan.stage === 'cold-start' ? name !== 'rollout' : true) &&
      (plan.stage === 'score' ? name === 'rollout' : true),
  );
  const plans = possible.map((peak): MemoryPlan => {
    const kinds = { ...base, ...moments[peak] };
    return { kinds, peak, total: Object.values(kinds).reduce((sum, bytes) => sum + bytes, 0) };
  });
  return plans.reduce((most, one) => (one.total > most.total ? one : most));
}
