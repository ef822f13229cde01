import { z } from 'zod';
import { iqaRubricConfigSchema, rewardTermsConfigSchema } from '../env/index.ts';
import {
  type AlgorithmConfig,
  algorithmSettings,
  difficultyConfigSchema,
  resamplingConfigSchema,
  unionOfKinds,
  watchdogConfigSchema,
} from '../rl/index.ts';
import { SCORING_MODES } from '../scoring/index.ts';
import { criticConfigSchema } from './critic/index.ts';
import { rolloutEngineConfigSchema } from './engines/index.ts';
import { replayConfigSchema } from './replay.ts';
import { freezeSettings, guardSettings, memorySettings, optimizerSettings, runSettings } from './settings.ts';

/** Where answers start. The reward pays by degrees and for the format: it needs no credit for wrong answers. */
const startCurriculumSchema = unionOfKinds([
  z.strictObject({ kind: z.literal('off') }),
  z.strictObject({
    kind: z.enum(['staged', 'mixed']),
    starts: z
      .int()
      .positive()
      .default(5)
      .describe('M: starts of an answer, the last of them with nothing given'),
    by: z.enum(['sentence', 'token']).default('sentence').describe('where an answer may be cut'),
  }),
]);

export const grpoConfigSchema = z
  .strictObject({
    ...runSettings,
    model: z.string().min(1).describe('cold-start checkpoint: the starting policy and the KL reference'),
    dataset: z
      .string()
      .min(1)
      .describe('data set folder with records.jsonl; the train split gives the prompts'),
    teacherRows: z
      .string()
      .nullable()
      .default(null)
      .describe('teacher rows for the reward that compares named distortions with the teacher’s'),
    prompt: z
      .string()
      .min(1)
      .default('student/quality.v1')
      .describe('shipped prompt, the one of the cold start'),
    steps: z.int().positive().default(200).describe('rollout batches'),
    promptsPerStep: z.int().positive().default(16),
    groupSize: z.int().min(2).default(8).describe('G: completions per prompt'),
    updatesPerBatch: z
      .int()
      .positive()
      .default(1)
      .describe('optimiser steps on each rollout batch: passes over it (mu) times mini-batches'),
    miniBatches: z
      .int()
      .positive()
      .default(1)
      .describe('parts that a rollout batch is cut into, each an optimiser step of its own'),
    microBatch: z.int().positive().default(64).describe('sequences per forward pass; not the result'),
    temperature: z.number().positive().default(1),
    maxNewTokens: z.int().positive().default(80),
    truncated: z
      .enum(['keep', 'mask', 'penalise'])
      .default('mask')
      .describe('completions cut by maxNewTokens: train on them, leave them out of the loss, or reward 0'),
    rubric: iqaRubricConfigSchema.prefault({}),
    blindPrompt: z
      .string()
      .min(1)
      .default('student/quality-blind.v1')
      .describe('shipped prompt of rubric.consistency.blind, which scores reasonings without their pictures'),
    rewards: rewardTermsConfigSchema
      .prefault([])
      .describe('reward terms beside the rubric: files, servers, judges (docs/rewards.md)'),
    engine: rolloutEngineConfigSchema.prefault({ kind: 'local' }),
    resampling: resamplingConfigSchema
      .prefault({ kind: 'off' })
      .describe('of groups whose rewards are all equal'),
    difficulty: difficultyConfigSchema
      .prefault({ kind: 'off' })
      .describe('which pictures are asked about: by recent success, or each once an epoch'),
    curriculum: startCurriculumSchema
      .prefault({ kind: 'off' })
      .describe('R3: answers begin with a part of the teacher’s; needs teacherRows'),
    replay: replayConfigSchema.prefault({ kind: 'off' }).describe('learning from groups of earlier steps'),
    partialRollouts: z
      .strictObject({
        tokensPerStep: z
          .int()
          .positive()
          .describe('sampled of each answer in a step, a divisor of maxNewTokens'),
      })
      .nullable()
      .default(null)
      .describe('answers are sampled over several steps, under newer weights each time'),
    ...algorithmSettings({ klCoefficient: 0.04 }),
    critic: criticConfigSchema.prefault({}).describe('value head (PPO), of the advantage "gae" alone'),
    optimizer: optimizerSettings({ learningRate: 1e-4, weightDecay: 0, beta2: 0.95 }),
    freeze: freezeSettings({ vision: true, merger: false }),
    ...memorySettings,
    flip: z.boolean().default(true),
    validateEvery: z.int().positive().default(40),
    validationImages: z.int().positive().default(200),
    validationMode: z.enum(SCORING_MODES).default('greedy').describe('how validation reads scores'),
    ratioTolerance: z
      .number()
      .positive()
      .default(0.02)
      .describe(
        'largest |ratio - 1| allowed before the first update of a batch: sampler and trainer must agree',
      ),
    maxMissingRewardShare: z
      .number()
      .min(0)
      .lt(1)
      .default(0.2)
      .describe('share of failed rewards in a batch that stops the run'),
    guards: guardSettings.prefault({}),
    watchdogs: watchdogConfigSchema.prefault({}).describe('docs/watchdogs.md'),
    maxRollBacks: z.int().min(0).default(3).describe('times that watchdogs may go back before the run stops'),
  })
  .superRefine((config, context) => {
    for (const [path, message] of impossible(config)) {
      context.addIssue({ code: 'custom', path: path.split('.'), message, input: config });
    }
  });
export type GrpoConfig = z.infer<typeof grpoConfigSchema>;

type Together = AlgorithmConfig &
  Readonly<{
    steps: number;
    promptsPerStep: number;
    groupSize: number;
    miniBatches: number;
    updatesPerBatch: number;
    maxNewTokens: number;
    teacherRows: string | null;
    resampling: { kind: string };
    difficulty: { kind: string };
    curriculum: { kind: string };
    partialRollouts: { tokensPerStep: number } | null;
  }>;

/** Settings that are each possible, but not together. */
function* impossible(config: Together): Generator<[path: string, message: string]> {
  const { advantage, kl, importance, promptsPerStep, groupSize } = config;
  const { steps, miniBatches, updatesPerBatch, maxNewTokens } = config;
  if (miniBatches > promptsPerStep)
    yield [
      'miniBatches',
      `is ${miniBatches}, allowed are at most promptsPerStep = ${promptsPerStep}: a group stays whole`,
    ];
  if (updatesPerBatch % miniBatches !== 0)
    yield [
      'updatesPerBatch',
      `is ${updatesPerBatch}, allowed are multiples of miniBatches = ${miniBatches}: every sample is used equally often`,
    ];
  if (advantage.kind === 'pass-at-k' && advantage.k > groupSize)
    yield [
      'advantage.k',
      `is ${advantage.k}, allowed are at most groupSize = ${groupSize}, better fewer: k are chosen of a group`,
    ];
  if (advantage.kind === 'gdpo' && kl.place === 'reward')
    yield ['kl.place', 'is "reward", but gdpo normalises each reward term by itself: allowed is "loss"'];
  if (importance.old === 'sampler' && importance.correction.kind !== 'none')
    yield [
      'importance.correction',
      'corrects from sampler to trainer, but importance.old "sampler" already takes the ratio to the sampler: allowed is "none"',
    ];
  if (config.curriculum.kind !== 'off' && config.teacherRows === null)
    yield ['curriculum', 'continues the answers of a teacher: set teacherRows'];
  if (config.partialRollouts === null) return;
  const { tokensPerStep } = config.partialRollouts;
  const needed = Math.ceil(maxNewTokens / tokensPerStep);
  if (needed > steps)
    yield [
      'partialRollouts.tokensPerStep',
      `is ${tokensPerStep}: a long answer takes ${needed} steps of it, and the run has ${steps}; sample more in a step, or raise steps`,
    ];
  if (maxNewTokens % tokensPerStep !== 0)
    yield [
      'partialRollouts.tokensPerStep',
      `is ${tokensPerStep}, allowed are divisors of maxNewTokens = ${maxNewTokens}`,
    ];
  if (config.resampling.kind !== 'off')
    yield [
      'partialRollouts',
      'come a few groups at a time, resampling wants the whole step: use one of them',
    ];
  if (advantage.kind === 'remax')
    yield [
      'partialRollouts',
      'span several policies, and the greedy answer of remax is that of one: use another advantage',
    ];
}
