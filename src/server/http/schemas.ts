import { z } from 'zod';
import { QUALITY_LEVELS } from '../../core/index.ts';
import { SCORING_MODES } from '../../scoring/index.ts';
import type { ServerLimits } from '../settings.ts';
import { API_ERRORS, type ApiErrorCode } from './api-error.ts';

/** Query strings and form fields are text: a number is read from it, anything else is left to the schema. */
const number = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);

const flag = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
);

/** Characters of an answer, or of a prompt with an answer behind it. */
const LONGEST_ANSWER = 32_768;

/** How pictures are scored; the same keys in a query string, in form fields and in JSON. */
export const scoreOptionsShape = ({ newTokens, samples }: ServerLimits) => ({
  mode: z.enum(SCORING_MODES).optional().describe('how the score is read; the server’s default if absent'),
  seed: number(z.int().min(0)).optional().describe('sampled: what the draws depend on'),
  samples: number(z.int().min(1).max(samples))
    .optional()
    .describe('sampled: answers drawn; the mean is given'),
  temperature: number(z.number().positive().max(10)).optional().describe('sampled'),
  topP: number(z.number().positive().max(1)).optional().describe('sampled'),
  maxNewTokens: number(z.int().min(1).max(newTokens)).optional().describe('tokens of the reasoning'),
  explain: flag.optional().describe('false leaves the words out'),
});

const picture = z
  .string()
  .min(1)
  .describe('base64 of the file, a data URL, or an http(s) address where the server allows it');

/** An empty text is one bad picture, not a bad request. */
const pictures = (limits: ServerLimits) =>
  z.array(z.string().describe(picture.description!)).min(1).max(limits.images);

export const scoreRequestSchema = (limits: ServerLimits) =>
  z.strictObject({ image: picture, ...scoreOptionsShape(limits) });

export const batchRequestSchema = (limits: ServerLimits) =>
  z.strictObject({ images: pictures(limits), ...scoreOptionsShape(limits) });

export const compareRequestSchema = (limits: ServerLimits) =>
  z.strictObject({
    a: picture,
    b: picture,
    ...scoreOptionsShape(limits),
    mode: scoreOptionsShape(limits).mode.describe(
      'how the scores are read; if absent, the server’s default, or expected where that says nothing about its doubt',
    ),
  });

export const rewardsRequestSchema = (limits: ServerLimits) =>
  z
    .looseObject({
      images: pictures(limits).optional().describe('pictures to score'),
      query: z
        .array(z.string().max(LONGEST_ANSWER))
        .min(1)
        .max(1024)
        .optional()
        .describe('answers, or prompts with answers behind them'),
      responses: z
        .array(z.string().max(LONGEST_ANSWER))
        .min(1)
        .max(1024)
        .optional()
        .describe('answers alone'),
      prompts: z.array(z.string()).optional().describe('where given, cut off from the beginning of `query`'),
      labels: z
        .array(number(z.number().min(1).max(5)))
        .optional()
        .describe('mean opinion scores in [1, 5], one for each answer'),
      scale: z.enum(['unit', 'score']).default('unit').describe('pictures: (score - 1) / 4, or the score'),
      mode: z.enum(SCORING_MODES).optional(),
    })
    .describe('either `images`, or `query` or `responses` with `labels`');

export const scoreResultSchema = z.looseObject({
  status: z.enum(['ok', 'unparsable', 'out-of-range', 'truncated']),
  score: z.number().min(1).max(5).nullable().describe('null unless the status is ok'),
  level: z.enum(QUALITY_LEVELS).nullable(),
  reasoning: z.string().nullable(),
  levelStated: z.enum(QUALITY_LEVELS).nullable().describe('level that the reasoning states'),
  distortions: z.array(z.looseObject({})).describe('named in the reasoning'),
  wellFormed: z.boolean(),
  text: z.string().describe('the whole output of the model'),
  finishReason: z.enum(['stop', 'length']),
  scoreWritten: z.number().optional(),
  std: z.number().optional(),
  interval: z.looseObject({}).optional().describe('the central 95 % of what the model holds likely'),
  modelSha256: z.string().nullable(),
  promptHash: z.string(),
  mode: z.enum(SCORING_MODES),
  width: z.int().describe('of the picture as decoded'),
  height: z.int(),
});

export const provenanceSchema = z.object({
  model: z.string(),
  modelSha256: z.string().nullable(),
  prompt: z.object({ id: z.string(), version: z.int(), hash: z.string() }),
  mode: z.enum(SCORING_MODES),
});

export const scoreReplySchema = scoreResultSchema.extend({
  provenance: provenanceSchema,
  milliseconds: z.number().describe('from the whole request to its answer'),
});

export const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(API_ERRORS) as [ApiErrorCode, ...ApiErrorCode[]]),
    message: z.string(),
    hint: z.string().optional(),
  }),
});

export const batchReplySchema = z.object({
  results: z
    .array(z.union([scoreResultSchema.extend({ index: z.int() }), errorSchema.extend({ index: z.int() })]))
    .describe('in the order of the pictures; one that cannot be scored has an error instead'),
  scored: z.int(),
  failed: z.int(),
  provenance: provenanceSchema,
  milliseconds: z.number(),
});

export const compareReplySchema = z.object({
  better: z.enum(['a', 'b', 'tie']).nullable().describe('null where one has no score'),
  difference: z.number().nullable().describe('score of a minus score of b'),
  interval: z.looseObject({}).optional().describe('the central 95 % of the difference'),
  probability: z.number().nullable().describe('how sure the model is that a is better, 1/2 for a tie'),
  a: scoreResultSchema,
  b: scoreResultSchema,
  provenance: provenanceSchema,
  milliseconds: z.number(),
});

export const rewardsReplySchema = z.object({
  rewards: z.array(z.number().nullable()).describe('null where there is none; never a stand-in'),
  scores: z.array(z.number().nullable()),
  extra_logs: z.record(z.string(), z.number()),
  missing: z.array(z.object({ index: z.int(), reason: z.string() })),
});
