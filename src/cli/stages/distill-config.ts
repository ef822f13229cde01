import { z } from 'zod';
import { SPLITS } from '../../data/index.ts';
import {
  filterConfigSchema,
  GUIDANCE,
  IMPORT_SCORES,
  oracleConfigSchema,
  selectionSchema,
  templateConfigSchema,
} from '../../teacher/index.ts';

export const TEACHERS = ['oracle', 'template', 'http', 'replay', 'import'] as const;

const amount = z.number().min(0);

const wayOfAskingSchema = z.strictObject({
  prompt: z.string().min(1),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().gt(0).max(1).optional(),
  samples: z.int().min(1).optional(),
});

/** A vision-language model behind an OpenAI-compatible address. The key comes from the environment alone. */
const httpSchema = z.strictObject({
  url: z.string().min(1).nullable().default(null).describe('address up to /v1'),
  model: z.string().min(1).nullable().default(null).describe('name of the model to ask'),
  prompts: z
    .array(z.union([z.string().min(1), wayOfAskingSchema]))
    .min(1)
    .default(['teacher/expert.v1'])
    .describe(
      'prompts, each asked about every image: a name, a .md file, or {prompt, temperature, topP, samples}',
    ),
  temperature: z.number().min(0).max(2).default(0.7).describe('of prompts that name none'),
  topP: z.number().gt(0).max(1).nullable().default(null),
  samples: z.int().min(1).max(100).default(1).describe('answers to each prompt that names no number'),
  guidance: z.enum(GUIDANCE).default('all').describe('what the teacher is told in secret'),
  maxTokens: z.int().positive().default(768).describe('of one answer'),
  maxPixels: z
    .int()
    .positive()
    .default(1_003_520)
    .describe('larger pictures are scaled down before they are sent'),
  seed: z.int().min(0).default(1).describe('answer k is asked for with seed + k'),
  timeoutSeconds: z.number().positive().max(3600).default(120),
  retries: z.int().min(0).max(100).default(5),
  requestsPerMinute: z.int().positive().nullable().default(null),
  tokensPerMinute: z.int().positive().nullable().default(null),
  prices: z
    .strictObject({ prompt: amount, completion: amount, cachedPrompt: amount.optional() })
    .nullable()
    .default(null)
    .describe('of a million tokens, for costs and a budget of cost'),
  budget: z
    .strictObject({
      cost: amount.nullable().default(null),
      tokens: z.int().min(0).nullable().default(null),
    })
    .prefault({})
    .describe('for the whole output folder, earlier runs included; asking stops when it is spent'),
});

export const distillConfigSchema = z.strictObject({
  dataset: z.string().min(1).describe('data set folder with records.jsonl'),
  output: z
    .string()
    .min(1)
    .describe('folder for accepted.jsonl, rejected.jsonl, manifest.json and the reports'),
  splits: z.array(z.enum(SPLITS)).min(1).default(['train']).describe('splits to teach about'),
  teacher: z.enum(TEACHERS).default('oracle'),
  oracle: oracleConfigSchema.prefault({}),
  template: templateConfigSchema.prefault({}),
  http: httpSchema.prefault({}),
  from: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('recorded answers (replay), or a file or folder of teacher texts (import)'),
  importScore: z
    .enum(IMPORT_SCORES)
    .default('text')
    .describe("score of an imported text: its own score or grade word, or the people's MOS"),
  answersPerImage: z
    .int()
    .positive()
    .default(1)
    .describe(
      'answers of a simulated teacher about each image; others have http.samples or what is recorded',
    ),
  prompt: z.string().min(1).default('student/quality.v1').describe('prompt that the rows answer'),
  filters: filterConfigSchema.prefault({}),
  retryRejected: z
    // The option without a number.
    .preprocess((value) => (value === true ? 1 : value), z.int().min(0).max(20))
    .default(0)
    .describe('further answers to ask for, at most, in place of a rejected one'),
  selection: selectionSchema.prefault({}),
  concurrency: z.int().positive().max(1024).default(16).describe('requests in flight'),
  maxFailureShare: z.number().min(0).max(1).default(0.05).describe('share of questions without an answer'),
});
export type DistillConfig = z.infer<typeof distillConfigSchema>;
