import { z } from 'zod';
import type { ServerLimits } from '../settings.ts';

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string().min(1).describe('a data URL') }),
});

const never = (what: string) =>
  z
    .unknown()
    .refine((value) => value === undefined || value === null || value === false, `${what} is not offered`)
    .optional();

/** The part of OpenAI's chat completions that means something here. Unknown keys are left aside. */
export const chatRequestSchema = ({ messages, newTokens }: ServerLimits) =>
  z.looseObject({
    model: z.string().optional().describe('the name that /v1/models tells; may be left out'),
    messages: z
      .array(
        z.looseObject({
          role: z.enum(['system', 'user', 'assistant']),
          content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart])).min(1)]),
        }),
      )
      .min(1)
      .max(messages),
    temperature: z.number().min(0).max(2).nullish().describe('0, the default: the most likely tokens'),
    top_p: z.number().positive().max(1).nullish(),
    max_tokens: z.int().min(1).max(newTokens).nullish(),
    max_completion_tokens: z.int().min(1).max(newTokens).nullish(),
    seed: z.int().min(0).nullish(),
    n: z.literal(1).nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
    tools: never('tools'),
    functions: never('functions'),
    logprobs: never('logprobs'),
    response_format: z.looseObject({ type: z.literal('text') }).nullish(),
  });
export type ChatRequest = z.infer<ReturnType<typeof chatRequestSchema>>;

const usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});

export const chatReplySchema = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({ role: z.literal('assistant'), content: z.string() }),
      finish_reason: z.enum(['stop', 'length']),
    }),
  ),
  usage,
  result: z.looseObject({}).describe('the answer read as a score, as in /v1/score; an addition of ours'),
});
