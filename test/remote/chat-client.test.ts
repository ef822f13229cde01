import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { RemoteError } from '../../src/core/index.ts';
import { type ChatClientOptions, createChatClient, imageDataUrl } from '../../src/remote/index.ts';
import {
  answer,
  type ChatServer,
  completion,
  delayed,
  type Handler,
  json,
  reset,
  resetInside,
  stall,
  stallInside,
  startChatServer,
  text,
} from './chat-server.ts';

const question = { messages: [{ role: 'user', content: 'How good?' }] } as const;

const clientOf = (
  { baseUrl }: Pick<ChatServer, 'baseUrl'>,
  options: ChatClientOptions = {},
  apiKey?: string,
) => createChatClient({ baseUrl, model: 'm', apiKey }, { firstDelayMs: 1, retries: 2, ...options });

async function failureOf(promise: Promise<unknown>): Promise<RemoteError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemoteError);
  return error as RemoteError;
}

describe('a request', () => {
  it('has the fields of the chat completions API', async () => {
    const server = await startChatServer(answer({ texts: ['one', 'two'] }));
    const picture = imageDataUrl(Buffer.from([1, 2, 3]), 'image/png');
    await clientOf(server, {}, 'sk-test').ask({
      messages: [
        { role: 'system', content: 'You judge.' },
        {
          role: 'user',
          content: [
            { type: 'image', url: picture, detail: 'high' },
            { type: 'text', text: 'How good?' },
          ],
        },
      ],
      temperature: 0.7,
      topP: 0.9,
      maxTokens: 64,
      seed: 5,
      n: 2,
      topLogprobs: 3,
      stop: ['###'],
      extra: { chat_template_kwargs: { enable_thinking: false } },
    });
    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-test');
    expect(server.requests[0]?.body).toEqual({
      model: 'm',
      stream: false,
      messages: [
        { role: 'system', content: 'You judge.' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID', detail: 'high' } },
            { type: 'text', text: 'How good?' },
          ],
        },
      ],
      temperature: 0.7,
      top_p: 0.9,
      max_tokens: 64,
      seed: 5,
      n: 2,
      logprobs: true,
      top_logprobs: 3,
      stop: ['###'],
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  it('without a key has no Authorization header, whatever the environment holds', async () => {
    process.env.OPENAI_API_KEY = 'sk-of-another-program';
    try {
      const server = await startChatServer(answer());
      await clientOf(server).ask(question);
      expect(server.requests[0]?.headers.authorization).toBeUndefined();
    } finally {
      delete process.env.OPENAI_API_KEY;
    }
  });

  it('can name the limit of newer servers', async () => {
    const server = await startChatServer(answer());
    await clientOf(server, { maxTokensField: 'max_completion_tokens' }).ask({ ...question, maxTokens: 7 });
    expect(server.requests[0]?.body).toMatchObject({ max_completion_tokens: 7 });
    expect(server.requests[0]?.body).not.toHaveProperty('max_tokens');
  });
});

describe('an answer', () => {
  it('has text, finish reason, tokens, logprobs, model and separate reasoning', async () => {
    const reply = completion({ finishReason: 'length', texts: ['Fair'] });
    Object.assign(reply.choices[0] as object, {
      message: { role: 'assistant', content: 'Fair', reasoning_content: 'It is soft.' },
      logprobs: {
        content: [
          {
            token: 'Fair',
            logprob: -0.25,
            bytes: null,
            top_logprobs: [{ token: 'Good', logprob: -1.5, bytes: null }],
          },
        ],
      },
    });
    const server = await startChatServer(json(reply));
    expect(await clientOf(server).ask({ ...question, topLogprobs: 1 })).toEqual([
      {
        text: 'Fair',
        finishReason: 'length',
        reasoning: 'It is soft.',
        usage: { prompt: 100, cachedPrompt: 0, completion: 10, choices: 1 },
        logprobs: [{ token: 'Fair', logprob: -0.25, top: [{ token: 'Good', logprob: -1.5 }] }],
        model: 'served',
      },
    ]);
  });

  it('may come in parts', async () => {
    const reply = completion();
    Object.assign(reply.choices[0] as object, {
      message: {
        content: [
          { type: 'text', text: 'a ' },
          { type: 'text', text: 'b' },
        ],
      },
    });
    const server = await startChatServer(json(reply));
    expect((await clientOf(server).ask(question))[0]?.text).toBe('a b');
  });

  it('is read whatever content type the server claims', async () => {
    const server = await startChatServer(text(JSON.stringify(completion()), 'text/plain'));
    expect((await clientOf(server).ask(question))[0]?.text).toBe('fine');
    expect(server.requests).toHaveLength(1);
  });

  it('belongs to its request even if every reply bears the same id', async () => {
    const echo: Handler = (request, response) =>
      delayed(Math.random() * 20, answer({ texts: [request.body.messages[0].content], id: 'same' }))(
        request,
        response,
      );
    const client = clientOf(await startChatServer(echo));
    const asked = Array.from({ length: 20 }, (_, i) => `question ${i}`);
    const got = await Promise.all(
      asked.map((content) => client.ask({ messages: [{ role: 'user', content }] })),
    );
    expect(got.map(([one]) => one?.text)).toEqual(asked);
    expect(client.usage().repeatedIds).toBe(19);
  });

  it('is asked for again, with another seed, when the server gives fewer than n', async () => {
    const bySeed: Handler = (request, response) =>
      answer({ texts: [`seed ${request.body.seed}`] })(request, response);
    const server = await startChatServer(bySeed);
    const answers = await clientOf(server).ask({ ...question, n: 3, seed: 7 });
    expect(answers.map((one) => one.text)).toEqual(['seed 7', 'seed 8', 'seed 9']);
    expect(server.requests.map(({ body }) => body.n)).toEqual([3, 2, undefined]);
  });

  it('counts once when the server repeats a choice', async () => {
    const twice = completion({ texts: ['a', 'a again'] });
    for (const choice of twice.choices) choice.index = 0;
    const server = await startChatServer(json(twice), answer({ texts: ['b'] }));
    expect((await clientOf(server).ask({ ...question, n: 2 })).map((one) => one.text)).toEqual(['a', 'b']);
  });

  it('replaces the one of n that came empty', async () => {
    const server = await startChatServer(answer({ texts: ['a', ''] }), answer({ texts: ['b'] }));
    const client = clientOf(server);
    expect((await client.ask({ ...question, n: 2 })).map((one) => one.text)).toEqual(['a', 'b']);
    expect(client.usage().failures).toEqual({ empty: 1 });
  });
});

/** An address of this machine where nothing listens: a port that was free a moment ago. */
async function addressOfNobody(): Promise<string> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}/v1`;
}

const HTML = '<!doctype html><html><head><title>502 Bad Gateway</title></head></html>';
const CUT = JSON.stringify(completion()).slice(0, 80);

describe('what is tried again', () => {
  it.each<[string, string, Handler]>([
    ['HTTP 429', 'rate-limit', json({ error: { message: 'slow down' } }, 429)],
    ['HTTP 500', 'server', json({ error: { message: 'boom' } }, 500)],
    ['HTTP 503 with a page', 'server', text(HTML, 'text/html', 503)],
    ['HTTP 408', 'bad-request', json({}, 408)],
    ['a page with status 200', 'malformed', text(HTML, 'text/html')],
    ['a page that claims to be JSON', 'malformed', text(HTML, 'application/json')],
    ['cut JSON', 'malformed', text(CUT, 'application/json')],
    ['cut JSON without a content type', 'malformed', text(CUT, '')],
    ['nothing at all', 'malformed', text('', 'application/json')],
    ['an event stream', 'malformed', text('data: {"id": 1}\n\n', 'text/event-stream')],
    ['JSON of something else', 'malformed', json({ ok: true })],
    ['JSON null', 'malformed', json(null)],
    ['no choices', 'malformed', json({ ...completion(), choices: [] })],
    ['an error inside a good status', 'server', json({ error: { message: 'overloaded', code: 503 } })],
    ['empty text', 'empty', answer({ texts: [''] })],
    ['blank text', 'empty', answer({ texts: [' \n'] })],
    ['null text', 'empty', answer({ texts: [null] })],
    ['a stall', 'timeout', stall],
    ['a stall inside the reply', 'timeout', stallInside],
    ['a broken connection', 'unreachable', reset],
    ['a connection that breaks inside the reply', 'unreachable', resetInside],
  ])('%s, and mended by a good reply', async (_what, reason, bad) => {
    const server = await startChatServer(bad, answer());
    // Long enough for a good reply of a busy machine, where it is not the thing tested.
    const timeoutMs = reason === 'timeout' ? 1000 : 30_000;
    const client = clientOf(server, { timeoutMs });
    expect((await client.ask(question))[0]?.text).toBe('fine');
    expect(client.usage()).toMatchObject({ requests: 2, retries: 1, failures: { [reason]: 1 }, failed: 0 });
    const lasting = clientOf(await startChatServer(bad), { timeoutMs, retries: 1 });
    const error = await failureOf(lasting.ask(question));
    expect([error.reason, error.code, error.exitCode]).toEqual([reason, 'REMOTE', 9]);
    expect(error.message).toMatch(/ after 2 tries$/);
    expect(error.hint).toBeTruthy();
  });

  it('a server that does not run', async () => {
    const nobody = await addressOfNobody();
    const error = await failureOf(clientOf({ baseUrl: nobody }, { retries: 1 }).ask(question));
    expect(error.message).toBe(`${nobody}, model m: no connection, or it broke (ECONNREFUSED) after 2 tries`);
    expect(error.hint).toMatch(/is the server running/);
  });
});

describe('what is not tried again', () => {
  it.each<[string, string, Handler]>([
    ['HTTP 400', 'bad-request', json({ error: { message: 'n must be 1' } }, 400)],
    ['HTTP 401', 'authentication', json({ error: { message: 'no' } }, 401)],
    ['HTTP 403', 'authentication', json({ error: { message: 'no' } }, 403)],
    ['HTTP 404', 'not-found', json({ error: { message: 'no such model' } }, 404)],
    ['HTTP 413', 'bad-request', text('too large', 'text/plain', 413)],
    ['a spent quota', 'rate-limit', json({ error: { message: 'quota', code: 'insufficient_quota' } }, 429)],
    ['a content filter', 'refused', answer({ texts: ['I'], finishReason: 'content_filter' })],
    ['an answer cut before its first word', 'empty', answer({ texts: [''], finishReason: 'length' })],
    ['a wait longer than allowed', 'rate-limit', json({}, 429, { 'retry-after': '3600' })],
  ])('%s', async (_what, reason, bad) => {
    const server = await startChatServer(bad);
    expect((await failureOf(clientOf(server).ask(question))).reason).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  it('a refusal, in the words of the model', async () => {
    const reply = completion();
    Object.assign(reply.choices[0] as object, {
      message: { content: null, refusal: 'I cannot look at this.' },
    });
    const error = await failureOf(clientOf(await startChatServer(json(reply))).ask(question));
    expect([error.reason, error.message.includes('"I cannot look at this."')]).toEqual(['refused', true]);
  });
});

it('a redirect is not followed: the key belongs to one address', async () => {
  const other = await startChatServer(answer());
  const server = await startChatServer(json({}, 307, { location: `${other.baseUrl}/chat/completions` }));
  const error = await failureOf(clientOf(server, {}, 'sk-test').ask(question));
  expect([error.reason, error.status]).toEqual(['not-found', 307]);
  expect(other.requests).toHaveLength(0);
});

it('connections are used again', async () => {
  const server = await startChatServer(answer());
  const client = clientOf(server);
  for (let i = 0; i < 5; i++) await client.ask(question);
  expect(new Set(server.requests.map(({ port }) => port)).size).toBe(1);
});

describe('an error', () => {
  it('names address, model, status and what the server said on one line', async () => {
    const said = `first\nsecond \u001b[31m${'x'.repeat(500)}`;
    const server = await startChatServer(json({ error: { message: said } }, 400));
    const error = await failureOf(clientOf(server).ask(question));
    expect(error.message).toBe(
      `${server.baseUrl}, model m: the server does not accept the request (HTTP 400), the server said "first second [31m${'x'.repeat(183)}..."`,
    );
  });

  it('never shows the key, even when the server repeats it', async () => {
    const key = 'sk-secret-0123456789';
    const echo: Handler = (request, response) =>
      json({ error: { message: `wrong key ${request.headers.authorization} (${key})` } }, 401, {
        'x-key': key,
      })(request, response);
    const server = await startChatServer(echo);
    const client = clientOf(server, {}, key);
    const error = await failureOf(client.ask(question));
    const everything = [
      inspect(error, { depth: 20, showHidden: true, getters: true }),
      inspect(client, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify([error, client, client.usage()]),
      String(error.stack),
    ].join('\n');
    expect(everything).not.toContain(key);
    expect(everything).toContain('wrong key Bearer [key]');
  });

  it.each([
    ['a key with a line break', { apiKey: 'sk-secret\nx' }],
    ['a login in the address', { baseUrl: 'http://user:sk-secret@localhost/v1' }],
    ['a key in the query', { baseUrl: 'http://localhost/v1?key=sk-secret' }],
    ['no address', { baseUrl: 'sk-secret' }],
    ['another protocol', { baseUrl: 'ftp://localhost/v1' }],
    ['no model', { model: ' ' }],
  ])('%s is refused at once, without showing it', (_what, wrong) => {
    const make = () => createChatClient({ baseUrl: 'http://localhost/v1', model: 'm', ...wrong });
    expect(make).toThrow(
      expect.objectContaining({ code: 'CONFIG', message: expect.not.stringContaining('sk-secret') }),
    );
  });

  it.each([
    ['no messages', { messages: [] }],
    ['temperature NaN', { temperature: Number.NaN }],
    ['temperature 3', { temperature: 3 }],
    ['n 0', { n: 0 }],
    ['n 1.5', { n: 1.5 }],
    ['21 alternatives', { topLogprobs: 21 }],
  ])('%s is a ConfigError before anything is sent', async (_what, wrong) => {
    const server = await startChatServer(answer());
    await expect(clientOf(server).ask({ ...question, ...wrong })).rejects.toMatchObject({ code: 'CONFIG' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('limits', () => {
  it('keeps to the concurrency', async () => {
    const server = await startChatServer(delayed(20, answer()));
    const client = clientOf(server, { concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => client.ask(question)));
    expect(server.mostOpen()).toBe(3);
  });

  it('sends nothing to anyone while the server asks to wait', async () => {
    const server = await startChatServer(json({}, 429, { 'retry-after': '0.4' }), answer());
    const client = clientOf(server, { concurrency: 2 });
    const first = client.ask(question);
    await expect.poll(() => client.usage().failures['rate-limit']).toBe(1);
    await Promise.all([first, client.ask(question), client.ask(question)]);
    const [refused, ...later] = server.requests.map(({ at }) => at);
    for (const at of later) expect(at - (refused ?? 0)).toBeGreaterThanOrEqual(395);
  });

  it('sends less at once after an overload, and as much as before when all is well again', async () => {
    const server = await startChatServer(json({}, 503), answer());
    const client = clientOf(server, { concurrency: 8 });
    await client.ask(question);
    expect(client.usage().concurrency).toBe(4);
    for (let i = 0; i < 60; i++) await client.ask(question);
    expect(client.usage().concurrency).toBe(8);
  });

  it('ends what is in flight, waiting and pausing when the signal aborts', async () => {
    const stop = new AbortController();
    const server = await startChatServer(json({}, 500), stall);
    const client = clientOf(server, { concurrency: 1, firstDelayMs: 60_000, signal: stop.signal });
    const pausing = client.ask(question);
    await expect.poll(() => client.usage().retries).toBe(1);
    const flying = client.ask(question);
    await expect.poll(() => server.requests.length).toBe(2);
    const waiting = client.ask(question);
    const reason = new Error('stopped by the user');
    stop.abort(reason);
    for (const one of [pausing, flying, waiting, client.ask(question)])
      await expect(one).rejects.toBe(reason);
    expect(server.requests).toHaveLength(2);
  });
});

describe('accounting', () => {
  it('adds tokens and cost, with cached tokens at their own price', async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 400 },
    };
    const client = clientOf(await startChatServer(answer({ usage })), {
      prices: { prompt: 2, completion: 10, cachedPrompt: 0.5 },
    });
    await client.ask(question);
    await client.ask(question);
    // Each: 600 * 2 + 400 * 0.5 + 50 * 10 = 1900 per million.
    expect(client.usage()).toMatchObject({
      asked: 2,
      answered: 2,
      promptTokens: 2000,
      cachedPromptTokens: 800,
      completionTokens: 100,
      cost: 0.0038,
    });
  });

  it('says how many replies came without a count, and has no cost without prices', async () => {
    const client = clientOf(await startChatServer(answer({ usage: null })));
    await client.ask(question);
    expect(client.usage()).toMatchObject({ repliesWithoutUsage: 1, promptTokens: 0, cost: null });
  });

  it('counts the tokens of replies that were of no use', async () => {
    const client = clientOf(await startChatServer(answer({ texts: [''] }), answer()));
    await client.ask(question);
    expect(client.usage()).toMatchObject({ promptTokens: 200, completionTokens: 20, failures: { empty: 1 } });
  });

  it('tells of each try', async () => {
    const tries: unknown[] = [];
    const server = await startChatServer(json({}, 500), answer());
    await clientOf(server, { onTry: ({ milliseconds: _time, ...rest }) => tries.push(rest) }).ask(question);
    expect(tries).toEqual([
      { reason: 'server', status: 500, tokens: undefined },
      { reason: undefined, status: undefined, tokens: { prompt: 100, cachedPrompt: 0, completion: 10 } },
    ]);
  });

  it('stops at the budget of requests: so many sent, the rest fails by name', async () => {
    const server = await startChatServer(delayed(5, answer()));
    const client = clientOf(server, { concurrency: 4, budget: { requests: 6 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => client.ask(question)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
    const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.reason] : []));
    expect(reasons).toEqual(['budget', 'budget', 'budget', 'budget']);
    expect(server.requests).toHaveLength(6);
  });

  it('never passes the budget of tokens while the estimates hold', async () => {
    // Estimated 3 + 100, counted 3 + 10: after 69 of 13 tokens the 70th may need the last 103 of 1,000.
    const server = await startChatServer(
      delayed(2, answer({ usage: { prompt_tokens: 3, completion_tokens: 10 } })),
    );
    const client = clientOf(server, { concurrency: 16, budget: { tokens: 1000 } });
    const asked = Array.from({ length: 100 }, () => client.ask({ ...question, maxTokens: 100 }));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(70);
    expect(client.usage().promptTokens + client.usage().completionTokens).toBe(70 * 13);
  });

  it('wants prices for a budget of cost', () => {
    expect(() => clientOf({ baseUrl: 'http://localhost/v1' }, { budget: { cost: 1 } })).toThrow(/no prices/);
  });
});
