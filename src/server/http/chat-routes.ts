import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { ChatJob } from '../model-host.ts';
import type { ServerSettings } from '../settings.ts';
import type { ChatAnswer, ChatTurn } from '../threads/tasks.ts';
import { ApiError, errorBody, toApiError } from './api-error.ts';
import { type ChatRequest, chatRequestSchema } from './chat-schema.ts';
import { pictureOfText } from './pictures.ts';
import { parseJson } from './read-body.ts';
import { type RouteContext, requestSignal, withRequest } from './request-scope.ts';
import { valid } from './valid.ts';

/** Tokens of an answer where the request does not say: reasoning and score of the contract fit. */
const USUAL_NEW_TOKENS = 128;

/** POST /v1/chat/completions, as OpenAI's clients send it. */
export function chatRoutes(context: RouteContext, promptText: string): Hono {
  const { service, settings } = context;
  const schema = chatRequestSchema(settings.limits);
  return new Hono().post('/v1/chat/completions', async (c) => {
    const request = await withRequest(c, context, async ({ body }) => valid(schema, parseJson(body)));
    requireModel(request, settings);
    const job = jobOf(request, settings, promptText);
    const leave = service.enter(1);
    const { signal, clear } = requestSignal(c.req.raw.signal, settings.requestTimeoutMs);
    const leaveAll = (done: boolean): void => {
      leave({ done });
      clear();
    };
    const head = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model: settings.name,
    };
    if (request.stream !== true) {
      try {
        const answer = await service.chat(job, signal);
        leaveAll(true);
        return c.json(wholeAnswer(head, answer));
      } finally {
        leaveAll(false);
      }
    }
    const withUsage = request.stream_options?.include_usage === true;
    return streamSSE(c, async (stream) => {
      const chunk = (delta: object, more: object = {}, finish: string | null = null) =>
        stream.writeSSE({
          data: JSON.stringify({
            ...head,
            object: 'chat.completion.chunk',
            choices: [{ index: 0, delta, finish_reason: finish }],
            ...more,
          }),
        });
      const gone = new AbortController();
      stream.onAbort(() => gone.abort(new ApiError('CLIENT_CLOSED', 'the client has closed the connection')));
      try {
        await chunk({ role: 'assistant', content: '' });
        let written: Promise<unknown> = Promise.resolve();
        const onText = (content: string): void => {
          written = written.then(() => chunk({ content }));
        };
        const answer = await service.chat({ ...job, onText }, AbortSignal.any([signal, gone.signal]));
        await written;
        await chunk({}, { result: answer.result }, answer.finishReason);
        if (withUsage) {
          const last = { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(answer) };
          await stream.writeSSE({ data: JSON.stringify(last) });
        }
        await stream.writeSSE({ data: '[DONE]' });
        leaveAll(true);
      } catch (error) {
        // The status has gone out with the first chunk; the error follows as the API's clients expect it.
        const known = toApiError(error);
        service.metrics.errors.inc({ code: known.code });
        await stream.writeSSE({ data: JSON.stringify(errorBody(known)) });
      } finally {
        leaveAll(false);
      }
    });
  });
}

function requireModel({ model }: ChatRequest, { name }: ServerSettings): void {
  if (model === undefined || model === '' || model === name) return;
  throw new ApiError('NOT_FOUND', 'there is no model of this name', { hint: '/v1/models tells the name' });
}

/** A conversation without any text asks the question that the model was trained with. */
function jobOf(request: ChatRequest, settings: ServerSettings, promptText: string): ChatJob {
  const { limits } = settings;
  const pictures: ChatJob['pictures'] = [];
  let characters = 0;
  const turns = request.messages.map(({ role, content }): ChatTurn => {
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    return {
      role,
      content: parts.map((part): ChatTurn['content'][number] => {
        if (part.type === 'text') {
          characters += part.text.length;
          return { type: 'text', text: part.text };
        }
        pictures.push(pictureOfText(part.image_url.url, settings));
        return { type: 'image' };
      }),
    };
  });
  if (characters > limits.promptCharacters) {
    throw new ApiError(
      'TOO_LARGE',
      `the texts have more than the ${limits.promptCharacters} characters allowed`,
      {
        hint: 'ask a shorter question',
      },
    );
  }
  if (pictures.length > limits.images) {
    throw new ApiError('TOO_LARGE', `the conversation has more than the ${limits.images} pictures allowed`, {
      hint: 'send fewer',
    });
  }
  if (characters === 0) turns.at(-1)!.content.push({ type: 'text', text: promptText });
  return {
    turns,
    pictures,
    options: {
      temperature: request.temperature ?? 0,
      topP: request.top_p ?? 1,
      seed: request.seed ?? 0,
      stream: request.stream === true,
      maxNewTokens:
        request.max_completion_tokens ??
        request.max_tokens ??
        Math.min(USUAL_NEW_TOKENS, settings.limits.newTokens),
    },
  };
}

const usageOf = ({ promptTokens, completionTokens }: ChatAnswer) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

function wholeAnswer(head: { id: string; created: number; model: string }, answer: ChatAnswer): object {
  return {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer.text },
        finish_reason: answer.finishReason,
      },
    ],
    usage: usageOf(answer),
    result: answer.result,
  };
}
