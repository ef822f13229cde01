import type { OpenAI } from 'openai';
import { ConfigError } from '../core/index.ts';
import type { Estimate } from './account.ts';
import type { ChatClientOptions, ChatMessage, ChatPart, ChatRequest } from './chat-types.ts';

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;

/** Of a picture after a bounded resize, about (Qwen2.5-VL: 28 x 28 pixels a token; 1,000 are 784,000 pixels). */
const TOKENS_PER_IMAGE = 1000;
/** Of an answer whose length nobody limited. */
const TOKENS_PER_ANSWER = 512;
/** Short of the usual four for English, so that an estimate is rather too high. */
const LETTERS_PER_TOKEN = 3;

const wrong = (what: string, allowed: string): ConfigError =>
  new ConfigError(`a chat request has ${what}`, { hint: `allowed is ${allowed}` });

function check({ messages, temperature, topP, maxTokens, seed, n, topLogprobs }: ChatRequest): void {
  if (messages.length === 0) throw wrong('no messages', 'at least one');
  const inRange = (name: string, value: number | undefined, low: number, high: number): void => {
    if (value !== undefined && !(value >= low && value <= high)) {
      throw wrong(`the ${name} ${value}`, `${low} to ${high}`);
    }
  };
  const whole = (name: string, value: number | undefined, low: number, high: number): void => {
    if (value !== undefined && !Number.isInteger(value))
      throw wrong(`the ${name} ${value}`, 'a whole number');
    inRange(name, value, low, high);
  };
  inRange('temperature', temperature, 0, 2);
  inRange('topP', topP, 0, 1);
  whole('maxTokens', maxTokens, 1, 1_000_000);
  whole('seed', seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  whole('n', n, 1, 1000);
  whole('topLogprobs', topLogprobs, 0, 20);
}

const partOf = (part: ChatPart): OpenAI.ChatCompletionContentPart =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : {
        type: 'image_url',
        image_url: { url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) },
      };

function messageOf({ role, content }: ChatMessage): OpenAI.ChatCompletionMessageParam {
  if (typeof content === 'string') return { role, content };
  if (role === 'user') return { role, content: content.map(partOf) };
  const texts = content.map((part) => {
    if (part.type === 'image') throw wrong(`a picture in a ${role} message`, 'pictures in user messages');
    return { type: 'text' as const, text: part.text };
  });
  return { role, content: texts };
}

/** What is sent for `n` answers. A request that no server could take is a ConfigError. */
export function chatBody(
  model: string,
  request: ChatRequest,
  maxTokensField: NonNullable<ChatClientOptions['maxTokensField']>,
): (n: number, seed: number | undefined) => Body {
  check(request);
  const { temperature, topP, maxTokens, logprobs, topLogprobs, stop, extra } = request;
  const fixed = {
    ...extra,
    model,
    stream: false as const,
    messages: request.messages.map(messageOf),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxTokens === undefined ? {} : { [maxTokensField]: maxTokens }),
    ...(logprobs === true || topLogprobs !== undefined ? { logprobs: true } : {}),
    ...(topLogprobs === undefined ? {} : { top_logprobs: topLogprobs }),
    ...(stop === undefined ? {} : { stop: typeof stop === 'string' ? stop : [...stop] }),
  };
  return (n, seed) => ({ ...fixed, ...(n === 1 ? {} : { n }), ...(seed === undefined ? {} : { seed }) });
}

/** Tokens that a request for n answers will need, about. For limits and budgets, before the server has counted. */
export function estimateTokens({ messages, maxTokens }: ChatRequest, n: number): Estimate {
  let letters = 0;
  let images = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') letters += content.length;
    else {
      for (const part of content) {
        if (part.type === 'text') letters += part.text.length;
        else images++;
      }
    }
  }
  const prompt = Math.ceil(letters / LETTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE;
  return { prompt, completion: n * (maxTokens ?? TOKENS_PER_ANSWER) };
}
