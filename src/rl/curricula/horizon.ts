import { z } from 'zod';
import { unionOfKinds } from '../kinds.ts';

const rounds = z.int().positive();

export const horizonConfigSchema = unionOfKinds([
  z.strictObject({
    kind: z.literal('fixed'),
    rounds: rounds.default(15).describe('most turns of an episode'),
  }),
  z
    .strictObject({
      kind: z.literal('scaling-inter'),
      rounds: z
        .array(rounds)
        .min(1)
        .default([10, 20, 30])
        .describe('most turns of an episode in each phase, never falling'),
      stepsPerPhase: z.int().positive().default(100),
    })
    .refine(
      (config) => config.rounds.every((own, i) => i === 0 || own >= (config.rounds[i - 1] as number)),
      'rounds must not fall from one phase to the next',
    ),
]);
export type HorizonConfig = z.infer<typeof horizonConfigSchema>;

/** What AgentGym-RL publishes for each of its environments: phases of ScalingInter-RL, and the fixed horizon beside it. */
export const PUBLISHED_HORIZONS = {
  webarena: { rounds: [8, 12, 15], stepsPerPhase: 80, fixed: 15 },
  searchqa: { rounds: [5, 8, 10], stepsPerPhase: 100, fixed: 5 },
  textcraft: { rounds: [10, 20, 30], stepsPerPhase: 100, fixed: 30 },
  babyai: { rounds: [6, 13, 20], stepsPerPhase: 100, fixed: 20 },
  sciworld: { rounds: [10, 20, 30], stepsPerPhase: 100, fixed: 20 },
} as const;

/**
 * Most turns that an episode may have at a step: h = rounds[min(floor(step / S), phases - 1)], steps from 0. The
 * trajectory constraint K_t <= h_t with h_(t+1) = h_t + delta every Delta steps of ScalingInter-RL (AgentGym-RL,
 * arXiv 2509.08755, section 3.3; the increments are listed, since the published ones are not equal). A function of
 * the step alone, so that a resumed run has no state to lose at the border of two phases.
 */
export function horizonAt(config: HorizonConfig, step: number): number {
  if (!(step >= 0)) throw new RangeError(`horizon: step is ${step}, allowed is >= 0`);
  if (config.kind === 'fixed') return config.rounds;
  const phase = Math.min(Math.floor(step / config.stepsPerPhase), config.rounds.length - 1);
  return config.rounds[phase] as number;
}
