import { z } from 'zod';
import { IQA_TERMS } from '../iqa/index.ts';
import { rewardWeightSchema } from './weight.ts';

const rangeSchema = z
  .tuple([z.number(), z.number()])
  .refine(([low, high]) => low < high, 'the first number must be below the second')
  .describe('smallest and largest value; another value is missing, never cut');

const common = {
  name: z
    .string()
    .regex(/^[a-zA-Z][\w-]{0,63}$/, 'a name begins with a letter and goes on with letters, digits, _ and -')
    .refine(
      (name) => !(IQA_TERMS as readonly string[]).includes(name),
      `the names ${IQA_TERMS.join(', ')} are taken by the rubric`,
    ),
  weight: rewardWeightSchema.describe('a number, or a schedule; 0 scores and logs without rewarding'),
  deadlineSeconds: z.number().positive().max(86_400).default(30).describe('of one try of one call'),
};
const retries = (tries: number) =>
  z.int().min(0).max(100).default(tries).describe('tries of a call after the first');
const concurrency = (calls: number) => z.int().min(1).max(256).default(calls).describe('calls at a time');
const batchSize = z.int().min(1).max(4096);
const keyVariable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, 'the name of an environment variable, never the key itself')
  .nullable()
  .default(null)
  .describe('environment variable that holds the key; null: none is sent');
/** As the chat client has it: what stands in an address ends up in configurations, logs and errors. */
const address = z.url({ protocol: /^https?$/ }).refine((text) => {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username === '' && password === '' && search === '' && hash === '';
}, 'allowed is http:// or https:// without a login, a query or a fragment; a key goes into the environment');

export const fileTermSchema = z.strictObject({
  kind: z.literal('file'),
  ...common,
  range: rangeSchema,
  path: z
    .string()
    .regex(/\.(?:js|mjs|ts|mts)$/, 'allowed are .js, .mjs, .ts and .mts')
    .describe('module whose default export, or export named `score`, is the reward'),
  retries: retries(0),
  batchSize: batchSize
    .nullable()
    .default(null)
    .describe('completions of a call; null: as the module says, else 16'),
  concurrency: concurrency(1),
  memoryMb: z.int().min(16).max(65_536).default(512).describe('JavaScript heap of each process'),
});

export const httpTermSchema = z.strictObject({
  kind: z.literal('http'),
  ...common,
  range: rangeSchema,
  url: address,
  protocol: z
    .enum(['simple', 'openrlhf'])
    .default('simple')
    .describe(
      'simple: {queries, responses, samples} -> {scores}; openrlhf: {query, prompts, labels} -> {rewards}',
    ),
  keyVariable,
  retries: retries(3),
  batchSize: batchSize.default(32),
  concurrency: concurrency(2),
});

export const judgeTermSchema = z.strictObject({
  kind: z.literal('judge'),
  ...common,
  deadlineSeconds: common.deadlineSeconds.unwrap().default(120),
  url: address.describe('address up to /v1'),
  model: z.string().trim().min(1),
  keyVariable,
  prompt: z
    .string()
    .default('judge/description.v2')
    .describe(
      'shipped prompt or path of a .md file, with slots among truth, description, highest and question',
    ),
  fields: z
    .array(z.string().min(1))
    .min(1)
    .default(['accuracy', 'completeness', 'reasonableness'])
    .describe('grades that the reply must hold; the reward is their mean over `highest`'),
  highest: z.int().min(1).max(100).default(10).describe('best grade; grades are whole numbers from 0'),
  range: rangeSchema.default([0, 1]),
  pictures: z.boolean().default(false).describe('show the judge the pictures too'),
  temperature: z.number().min(0).max(2).default(0),
  maxTokens: z.int().positive().default(512),
  seed: z.int().min(0).default(0),
  budgetTokens: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('tokens that the judge may cost in a run'),
  retries: retries(3),
  concurrency: concurrency(8),
});

export const rewardTermSchema = z.discriminatedUnion('kind', [
  fileTermSchema,
  httpTermSchema,
  judgeTermSchema,
]);

/** Reward terms beside those of the rubric. Names are unique. */
export const rewardTermsConfigSchema = z.array(rewardTermSchema).superRefine((terms, context) => {
  const seen = new Set<string>();
  for (const [at, { name }] of terms.entries()) {
    if (seen.has(name)) {
      context.addIssue({
        code: 'custom',
        path: [at, 'name'],
        message: `the name ${name} is taken by an earlier term`,
      });
    }
    seen.add(name);
  }
});

export type FileTermConfig = z.infer<typeof fileTermSchema>;
export type HttpTermConfig = z.infer<typeof httpTermSchema>;
export type JudgeTermConfig = z.infer<typeof judgeTermSchema>;
export type RewardTermConfig = z.infer<typeof rewardTermSchema>;
export type RewardTermsConfig = z.infer<typeof rewardTermsConfigSchema>;
