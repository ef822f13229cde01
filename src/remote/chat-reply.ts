import { z } from 'zod';
import type { ChatAnswer, ReplyTokens, TokenLogprob } from './chat-types.ts';
import { Failure, failureOfStatus } from './failure.ts';

const tokenSchema = z.object({ token: z.string(), logprob: z.number() });

const textSchema = z.union([
  z.string(),
  z.array(z.object({ type: z.string(), text: z.string().optional() })),
]);

const choiceSchema = z.object({
  index: z.number().optional(),
  finish_reason: z.string().nullish(),
  message: z.object({
    content: textSchema.nullish(),
    refusal: z.string().nullish(),
    /** DeepSeek, vLLM and SGLang. */
    reasoning_content: z.string().nullish(),
    /** OpenRouter and Ollama. */
    reasoning: z.string().nullish(),
  }),
  logprobs: z
    .object({
      content: z.array(tokenSchema.extend({ top_logprobs: z.array(tokenSchema).nullish() })).nullish(),
    })
    .nullish(),
});

const replySchema = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  choices: z.array(choiceSchema),
  usage: z
    .object({
      prompt_tokens: z.number().min(0),
      completion_tokens: z.number().min(0).default(0),
      prompt_tokens_details: z.object({ cached_tokens: z.number().min(0).nullish() }).nullish(),
    })
    .nullish()
    .catch(null),
});

const errorSchema = z.object({
  error: z.union([
    z.string(),
    z.object({ message: z.unknown(), code: z.unknown(), status: z.unknown() }).partial(),
  ]),
});

export interface Reply {
  id: string | undefined;
  tokens: ReplyTokens | undefined;
  /** Choices with text. */
  answers: ChatAnswer[];
  /** Why the other choices are none. */
  dropped: Failure[];
}

const malformed = (what: string, said: string, hint: string, status: number): Failure =>
  new Failure('malformed', what, { retryable: true, status, said, hint });

const textOf = (content: z.infer<typeof textSchema> | null | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');

function parseJson(body: string, contentType: string, status: number): unknown {
  if (body.trim() === '') {
    throw malformed('the reply has no content', '', 'is this the address of a chat server?', status);
  }
  try {
    return JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (/^\s*</.test(body)) {
      const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? body;
      const hint = 'a proxy or a web page answers here: check the address, it usually ends in /v1';
      throw malformed('the reply is an HTML page', title, hint, status);
    }
    if (/^\s*(?:data|event):/.test(body)) {
      const hint = 'the server streams although no stream was asked for: switch that off there';
      throw malformed('the reply is an event stream', body, hint, status);
    }
    const type = contentType === '' ? 'without a content type' : `of type ${contentType}`;
    const what = `the reply ${type} is not JSON, or was cut after ${body.length} characters`;
    throw malformed(what, body, 'look at the server, or at a proxy before it', status);
  }
}

/** OpenRouter and others report errors inside a reply of status 200. */
function throwReportedError(value: unknown, status: number): void {
  // A good reply seldom has the key, and a failed parse costs more than a whole good one.
  if (typeof value !== 'object' || value === null || !('error' in value)) return;
  const { data } = errorSchema.safeParse(value);
  if (data === undefined) return;
  const error = typeof data.error === 'string' ? { message: data.error } : data.error;
  const said = typeof error.message === 'string' ? error.message : JSON.stringify(data.error);
  const code = Number(error.code ?? error.status);
  throw failureOfStatus(code >= 400 && code < 600 ? code : Math.max(500, status), said, error.code);
}

type Choice = z.infer<typeof choiceSchema>;

function refusalIn({ message, finish_reason }: Choice, text: string): string | undefined {
  if (typeof message.refusal === 'string' && message.refusal !== '' && text.trim() === '')
    return message.refusal;
  return finish_reason === 'content_filter' ? 'stopped by the content filter' : undefined;
}

function faultOf(choice: Choice, text: string, status: number): Failure | undefined {
  const refusal = refusalIn(choice, text);
  if (refusal !== undefined) {
    return new Failure('refused', 'the model or a filter declined', {
      retryable: false,
      status,
      said: refusal,
      hint: 'look at the prompt and the picture, or ask another model',
    });
  }
  if (text.trim() !== '') return undefined;
  const cut = choice.finish_reason === 'length';
  return new Failure('empty', `an answer has no text (finish reason ${choice.finish_reason ?? 'none'})`, {
    retryable: !cut,
    status,
    hint: cut
      ? 'all tokens went into reasoning: raise maxTokens'
      : 'the model had nothing to say: look at the prompt and the stop words',
  });
}

function logprobsOf({ logprobs }: Choice): TokenLogprob[] | undefined {
  return logprobs?.content?.map(({ token, logprob, top_logprobs }) => ({
    token,
    logprob,
    top: (top_logprobs ?? []).map((other) => ({ token: other.token, logprob: other.logprob })),
  }));
}

/** A choice index that comes twice is one choice, written twice; without indices the places count. */
function distinctChoices(choices: readonly Choice[]): Choice[] {
  const byIndex = new Map<number, Choice>();
  choices.forEach((choice, place) => {
    const index = choice.index ?? place;
    if (!byIndex.has(index)) byIndex.set(index, choice);
  });
  return [...byIndex].sort(([a], [b]) => a - b).map(([, choice]) => choice);
}

/**
 * Reads the body of a reply with a good status. What is not a chat completion is a Failure with a name; choices
 * without text are set apart.
 */
export function readReply(body: string, contentType: string, status: number): Reply {
  const value = parseJson(body, contentType, status);
  throwReportedError(value, status);
  const parsed = replySchema.safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
    const what = `the reply is not a chat completion (${path.join('.') || 'top'}: ${message})`;
    throw malformed(what, body, 'is this an OpenAI-compatible chat address?', status);
  }
  const { id, model, choices, usage } = parsed.data;
  const distinct = distinctChoices(choices);
  if (distinct.length === 0) {
    throw malformed('the reply has no choices', body, 'look at the log of the server', status);
  }
  const tokens = usage
    ? {
        prompt: usage.prompt_tokens,
        cachedPrompt: Math.min(usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens ?? 0),
        completion: usage.completion_tokens,
      }
    : undefined;
  const reply: Reply = { id: id ?? undefined, tokens, answers: [], dropped: [] };
  for (const choice of distinct) {
    const text = textOf(choice.message.content);
    const fault = faultOf(choice, text, status);
    if (fault !== undefined) {
      reply.dropped.push(fault);
      continue;
    }
    const reasoning = choice.message.reasoning_content ?? choice.message.reasoning;
    const logprobs = logprobsOf(choice);
    reply.answers.push({
      text,
      finishReason: choice.finish_reason ?? 'unknown',
      ...(reasoning ? { reasoning } : {}),
      ...(tokens === undefined ? {} : { usage: { ...tokens, choices: distinct.length } }),
      ...(logprobs === undefined ? {} : { logprobs }),
      ...(model ? { model } : {}),
    });
  }
  return reply;
}
