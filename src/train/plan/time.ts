import type { ModelConfig } from '../../model/index.ts';
import { type Counts, trainsPictures, trainsTower } from './counts.ts';
import { type Device, REACHED } from './devices.ts';
import { languageFlops, mergerFlops, towerFlops } from './flops.ts';
import type { PlanConfig } from './plan.config.ts';

export interface WorkPlan {
  /** Floating-point operations of one step in matrix products. */
  flops: { rollout: number; scoring: number; update: number };
  /** Seconds of one step, at the assumed shares of the device's peaks. */
  seconds: { rollout: number; scoring: number; update: number };
}

/**
 * Work of one step. An update costs a forward pass, one more for the gradients of activations, one for those of
 * weights where all are trained, and one where activations are computed twice. Writing an answer reads the
 * language model's weights once for each token, whatever the number of answers.
 */
export function workPlan(config: ModelConfig, counts: Counts, plan: PlanConfig, device: Device): WorkPlan {
  const { rows, prompt, sequence, patches, readPerToken } = counts;
  const scored = rows * plan.responseTokens;
  const pictures = plan.stage === 'grpo' ? plan.promptsPerStep : rows;
  const tower = towerFlops(config.vision, pictures, patches);
  const merger = mergerFlops(config.vision, pictures, patches);
  const vision = tower + merger;
  const pass = languageFlops(config, { rows, length: sequence, attended: sequence, scored });
  const backward = (plan.lora === null ? 2 : 1) + (plan.gradientCheckpointing ? 1 : 0);
  const passes = (trained: boolean): number => (trained ? 1 + backward : 1);
  const answers = languageFlops(config, {
    rows,
    length: plan.responseTokens,
    attended: prompt + plan.responseTokens / 2,
    scored,
  });
  const prefill = languageFlops(config, { rows: pictures, length: prompt, attended: prompt, scored: rows });
  // The policy itself is not scored a second time: on-policy, the sampler's log-probabilities are the old ones.
  const references = plan.klCoefficient > 0 ? 1 : 0;
  const flops = {
    rollout: plan.stage === 'cold-start' ? 0 : prefill + answers + vision,
    scoring: plan.stage === 'grpo' ? references * (pass + vision) : 0,
    update:
      plan.stage === 'score'
        ? 0
        : pass * passes(true) + tower * passes(trainsTower(plan)) + merger * passes(trainsPictures(plan)),
  };
  const rate = device.flops[plan.precision] * REACHED.flops;
  const weights = readPerToken * (plan.precision === 'bfloat16' ? 2 : 4);
  const reading = plan.responseTokens * (weights / (device.bandwidth * REACHED.bandwidth));
  const seconds = {
    rollout: plan.stage === 'cold-start' ? 0 : (prefill + vision) / rate + Math.max(reading, answers / rate),
    scoring: flops.scoring / rate,
    update: flops.update / rate,
  };
  return { flops, seconds };
}
