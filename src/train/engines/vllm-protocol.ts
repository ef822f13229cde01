import { z } from 'zod';
import { InputError } from '../../core/index.ts';
import { Failure } from '../../remote/index.ts';
import type { EnginePrompt } from './rollout-engine.ts';
import {
  type GenerationRequest,
  logitBias,
  type ServerChoice,
  type ServerProtocol,
  type ServerReply,
} from './server-protocol.ts';

const ids = z.array(z.int()).nullish();
const choice = {
  index: z.int().min(0),
  finish_reason: z.string().nullish(),
  token_ids: ids,
};
const common = { model: z.string(), usage: z.object({ prompt_tokens: z.int() }).nullish() };
const number = z.number().nullable();
const textReply = z.object({
  ...common,
  object: z.literal('text_completion'),
  choices: z.array(
    z.object({
      ...choice,
      prompt_token_ids: ids,
      logprobs: z.object({ token_logprobs: z.array(number).nullish() }).nullish(),
    }),
  ),
});
const chatReply = z.object({
  ...common,
  object: z.literal('chat.completion'),
  prompt_token_ids: ids,
  choices: z.array(
    z.object({
      ...choice,
      logprobs: z.object({ content: z.array(z.object({ logprob: number })).nullish() }).nullish(),
    }),
  ),
});
const anyReply = z.discriminatedUnion('object', [textReply, chatReply]);

/**
 * vLLM's OpenAI-compatible server. A prompt without pictures goes to /v1/completions as token ids; with pictures to
 * /v1/chat/completions as messages, since token ids and pictures together are not taken there. Everything that
 * shapes the draw is sent: what is left out, the server takes from the model's generation_config.json.
 */
export const vllmProtocol: ServerProtocol = {
  kind: 'vllm',

  generation(request) {
    const { adapter, prompt, count, maxNewTokens, temperature, seed, endIds, bannedIds } = request;
    const shared = {
      model: adapter,
      n: count,
      max_tokens: maxNewTokens,
      temperature,
      seed,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      ...(endIds.length === 0 ? { ignore_eos: true } : { stop_token_ids: endIds }),
      ...(bannedIds.length === 0 ? {} : { logit_bias: logitBias(bannedIds) }),
      return_token_ids: true,
    };
    if (prompt.images.length === 0) {
      const body = { ...shared, prompt: prompt.sequence.tokenIds, logprobs: 0 };
      return { path: '/v1/completions', body };
    }
    return {
      path: '/v1/chat/completions',
      body: { ...shared, ...conversation(request), logprobs: true, top_logprobs: 0 },
    };
  },

  reply(json) {
    const parsed = anyReply.safeParse(json);
    if (!parsed.success)
      throw new Failure('malformed', 'the reply is no completion', { retryable: false, said: saidIn(json) });
    return readReply(parsed.data);
  },

  load: (name, path) => ({ path: '/v1/load_lora_adapter', body: { lora_name: name, lora_path: path } }),
  unload: (name) => ({ path: '/v1/unload_lora_adapter', body: { lora_name: name } }),
  lacksAdapter: ({ status, said = '' }) => status === 404 && /(model|adapter) .*does not exist/i.test(said),
  isLoaded: ({ status, said = '' }) => status === 400 && /already been loaded/i.test(said),
  logProbabilityHint: 'start the server with --logprobs-mode processed_logprobs',
  adapterHint:
    'start the server with --enable-lora, --max-lora-rank of at least the rank of lora, and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True in its environment',
};

function conversation({ prompt, pictures, given }: GenerationRequest): Record<string, unknown> {
  const messages = messagesWith(prompt, pictures);
  if (given === '') return { messages, add_generation_prompt: true };
  return {
    messages: [...messages, { role: 'assistant', content: given }],
    add_generation_prompt: false,
    continue_final_message: true,
  };
}

function messagesWith({ messages }: EnginePrompt, pictures: readonly string[]): unknown[] {
  let next = 0;
  const written = messages.map(({ role, content }) => {
    if (typeof content === 'string') return { role, content };
    const parts = content.map((part) =>
      part.type === 'text' ? part : { type: 'image_url', image_url: { url: pictures[next++] } },
    );
    return { role, content: parts };
  });
  if (next !== pictures.length)
    throw new InputError(
      `the messages of a prompt refer to ${next} picture(s), ${pictures.length} were given`,
    );
  return written;
}

function readReply(reply: z.infer<typeof anyReply>): ServerReply {
  const { model, usage } = reply;
  const promptLength = usage?.prompt_tokens ?? null;
  const read = (
    {
      token_ids,
      finish_reason,
    }: { token_ids?: number[] | null | undefined; finish_reason?: string | null | undefined },
    logProbabilities: ServerChoice['logProbabilities'] | undefined,
  ): ServerChoice => ({
    tokenIds: token_ids ?? null,
    logProbabilities: logProbabilities ?? null,
    finishReason: finish_reason ?? 'none',
  });
  if (reply.object === 'text_completion') {
    return {
      model,
      promptLength,
      promptTokenIds: reply.choices[0]?.prompt_token_ids ?? null,
      choices: reply.choices.map((one) => read(one, one.logprobs?.token_logprobs)),
    };
  }
  return {
    model,
    promptLength,
    promptTokenIds: reply.prompt_token_ids ?? null,
    choices: reply.choices.map((one) =>
      read(
        one,
        one.logprobs?.content?.map(({ logprob }) => logprob),
      ),
    ),
  };
}

const saidIn = (json: unknown): string => (JSON.stringify(json) ?? '').slice(0, 200);
