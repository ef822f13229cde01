import { z } from 'zod';

/** Sizes of a demo. Times on two cores are measured in docs/log.md. */
export interface DemoPlan {
  images: { train: number; validation: number; test: number; cross: number };
  coldStartSteps: number;
  grpoSteps: number;
}

/** At most this many minutes take the full size on two cores (measured: about 8). */
export const FULL_MINUTES = 12;

const FULL: DemoPlan = {
  images: { train: 4000, validation: 400, test: 1000, cross: 1000 },
  coldStartSteps: 1000,
  grpoSteps: 300,
};

/** Below this many minutes too little is learnt for the figures to mean anything. */
export const LEAST_MINUTES = 2;

/** Every part shrinks alike. */
export function planFor(minutes: number): DemoPlan {
  const share = Math.min(1, minutes / FULL_MINUTES);
  const part = (full: number, least: number): number => Math.max(least, Math.round(full * share));
  return {
    images: {
      train: part(FULL.images.train, 64),
      validation: part(FULL.images.validation, 32),
      test: part(FULL.images.test, 32),
      cross: part(FULL.images.cross, 32),
    },
    coldStartSteps: part(FULL.coldStartSteps, 4),
    grpoSteps: part(FULL.grpoSteps, 2),
  };
}

export const demoConfigSchema = z.strictObject({
  output: z.string().min(1).default('.q-ponder/demo').describe('folder for data, runs and report'),
  minutes: z
    .number()
    .positive()
    .default(FULL_MINUTES)
    .describe('size of the job; 12 is the full size and takes at most this long on two cores'),
  seed: z.int().min(0).default(0),
  base: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('checkpoint to start from; the miniature’s committed base if not given'),
  fromScratch: z.boolean().default(false).describe('train the base first, by scripts/recipes/base.yaml'),
  coldStart: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('settings over scripts/recipes/cold-start.yaml'),
  grpo: z.record(z.string(), z.unknown()).default({}).describe('settings over scripts/recipes/grpo.yaml'),
});
export type DemoConfig = z.infer<typeof demoConfigSchema>;
