import { describe, expect, it } from 'vitest';
import type { RewardTerms, RewardTermsContext } from '../../../src/env/index.ts';
import { group, type Handler, json, openTerms, rewardServer, type Seen, valuesOf } from './scoring.ts';

const ok = (value: number) => ({ status: 'ok', value });
const KEY = 'sk-hidden-0123456789';

async function serve(
  handlers: Handler[],
  settings: object = {},
  context: RewardTermsContext = {},
): Promise<{ terms: RewardTerms; seen: Seen[]; url: string }> {
  const { url, seen } = await rewardServer(...handlers);
  const term = { kind: 'http', name: 'far', weight: 1, range: [-1, 1], url, retries: 0, ...settings };
  return { terms: await openTerms([term] as Parameters<typeof openTerms>[0], context), seen, url };
}

/** The reason why the only completion has no reward. */
async function reasonOf(terms: RewardTerms): Promise<string> {
  const [value] = await valuesOf(terms, ['a']);
  return value?.status === 'missing' ? value.reason : `it is ${value?.value}`;
}

describe('a reward server', () => {
  it('gets queries, responses and samples, and gives scores', async () => {
    const { terms, seen } = await serve([json({ scores: [0.5, -1] })]);
    expect(await valuesOf(terms, ['a', 'b'], 3)).toEqual([ok(0.5), ok(-1)]);
    const about = {
      id: 'picture-1',
      dataset: 'd',
      image: '/pictures/1.png',
      reasoning: null,
      score: null,
      mos: 3.25,
      mosStd: null,
      distortions: null,
      step: 3,
      group: 0,
    };
    expect(seen.map(({ body }) => body)).toEqual([
      {
        queries: ['How good is it?', 'How good is it?'],
        responses: ['a', 'b'],
        samples: [
          { ...about, index: 0 },
          { ...about, index: 1 },
        ],
      },
    ]);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it('of OpenRLHF gets query, prompts and labels, and gives rewards beside logs', async () => {
    const reply = { rewards: [0.25], scores: [0.9], extra_logs: { dummy_scores: [0.9] } };
    const { terms, seen } = await serve([json(reply)], { protocol: 'openrlhf' });
    expect(await valuesOf(terms, [' fine'])).toEqual([ok(0.25)]);
    expect(seen[0]?.body).toEqual({
      query: ['How good is it? fine'],
      prompts: ['How good is it?'],
      labels: ['3.25'],
    });
  });

  it('gets batches, and its scores go to the completions they were given for', async () => {
    const lengths: Handler = (seen, response) =>
      json({ scores: seen.body.responses.map((text: string) => text.length / 10) })(seen, response);
    const { terms, seen } = await serve([lengths], { batchSize: 2, concurrency: 3 });
    const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
    expect(await valuesOf(terms, texts)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5].map(ok));
    expect(seen.map(({ body }) => body.responses.length).sort()).toEqual([1, 2, 2]);
  });

  it('gets the key and nothing else does', async () => {
    const { terms, seen } = await serve(
      [json({ scores: [0] })],
      { keyVariable: 'REWARD_KEY' },
      { environment: { REWARD_KEY: KEY } },
    );
    expect(await valuesOf(terms, ['a'])).toEqual([ok(0)]);
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify([seen[0]?.body, terms])).not.toContain(KEY);
  });

  it('whose key is not set is a ConfigError that names the variable', async () => {
    await expect(serve([], { keyVariable: 'REWARD_KEY' })).rejects.toThrow(
      'the environment variable REWARD_KEY of the reward far is not set',
    );
  });

  it('that repeats the key in its error does not get it into the reason, cut lines included', async () => {
    const said = `${'x'.repeat(185)}${KEY}`;
    const { terms } = await serve(
      [(_seen, response) => response.writeHead(400).end(said)],
      { keyVariable: 'REWARD_KEY' },
      { environment: { REWARD_KEY: KEY } },
    );
    const reason = await reasonOf(terms);
    expect(reason).toContain('does not accept the request (HTTP 400)');
    expect(reason).not.toContain('sk-');
  });
});

describe('a reward server that fails', () => {
  const answer =
    (text: string, headers: Record<string, string> = {}): Handler =>
    (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
    };

  it.each<[string, Handler, string]>([
    ['sends a page', answer('<html>busy</html>'), 'the reply cannot be read: it is no JSON'],
    [
      'sends NaN',
      answer('{"scores": [NaN]}'),
      'the reply cannot be read: it holds NaN or Infinity, which JSON has not',
    ],
    ['sends cut JSON', answer('{"scores": [0.'), 'the reply cannot be read: it is no JSON'],
    ['sends another object', json({ rewards: [1] }), 'the reply is an object without the list "scores"'],
    ['sends null', json(null), 'the reply is null without the list "scores"'],
    [
      'sends too many',
      json({ scores: [1, 1] }),
      '"scores" of the reply: got a list of 2, a list of 1 number is needed',
    ],
    ['sends a text', json({ scores: ['1'] }), 'the value is a string, a finite number is needed'],
    ['sends a list of lists', json({ scores: [[1]] }), 'the value is a list of 1, a finite number is needed'],
    ['sends null for one', json({ scores: [null] }), 'the value is null, a finite number is needed'],
    ['sends a large number', json({ scores: [2] }), 'the value 2 is outside the range [-1, 1]'],
  ])('%s', async (_name, handler, reason) => {
    const { terms } = await serve([handler]);
    expect(await reasonOf(terms)).toBe(`far: ${reason}`);
  });

  it.each<[string, Handler, string]>([
    ['fails', json({}, 500), 'the server failed (HTTP 500), the server said "{}"'],
    [
      'breaks the connection',
      (_seen, response) => response.destroy(),
      'no connection, or it broke (ECONNRESET)',
    ],
    [
      'breaks off inside the reply',
      (_seen, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"scores": [1]');
        setTimeout(() => response.destroy(), 20);
      },
      'no connection, or it broke (ECONNRESET)',
    ],
    [
      'sends elsewhere',
      (_seen, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'the server sends elsewhere, which is not followed (HTTP 302)',
    ],
  ])('%s', async (_name, handler, reason) => {
    const { terms, url } = await serve([handler]);
    expect(await reasonOf(terms)).toBe(`far: ${url}: ${reason}`);
    expect(terms.counts().far).toMatchObject({ errors: 1, timeouts: 0, missing: 1 });
  });

  it.each<[string, Handler]>([
    ['never answers', () => undefined],
    [
      'stalls inside the reply',
      (_seen, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"scores": ');
      },
    ],
  ])('%s: missing at the deadline', async (_name, handler) => {
    const { terms, url } = await serve([handler], { deadlineSeconds: 0.2 });
    expect(await reasonOf(terms)).toBe(`far: ${url}: no complete reply within 0.2 s`);
    expect(terms.counts().far).toMatchObject({ timeouts: 1, errors: 0 });
  });

  it('is not there', async () => {
    const { terms } = await serve([], { url: 'http://127.0.0.1:1/get_reward' });
    expect(await reasonOf(terms)).toBe(
      'far: http://127.0.0.1:1/get_reward: no connection, or it broke (ECONNREFUSED)',
    );
  });

  it('fails twice and then answers: retried, and counted', async () => {
    const { terms, seen } = await serve([json({}, 503), json({ scores: [] }), json({ scores: [1] })], {
      retries: 3,
    });
    expect(await valuesOf(terms, ['a'])).toEqual([ok(1)]);
    expect(seen.length).toBe(3);
    const { groups: _groups, ...score } = await terms.score(0, [group('a')]);
    expect(terms.counts().far).toMatchObject({ samples: 2, missing: 0, errors: 2, retries: 2 });
    // Of the second step alone.
    expect(score.metrics).toMatchObject({
      'reward/far/mean': 1,
      'reward/far/std': 0,
      'reward/far/weight': 1,
      'reward/far/errors': 0,
      'reward/far/retries': 0,
      'reward/far/missing': 0,
    });
  });

  it('refuses the request: asked once', async () => {
    const { terms, seen } = await serve([json({}, 401)], { retries: 3 });
    expect(await reasonOf(terms)).toContain('the key is missing or wrong (HTTP 401)');
    expect(seen.length).toBe(1);
  });

  it('fails for one batch: the other batches have their rewards', async () => {
    const { terms } = await serve([json({ scores: [1] }), json({}, 500), json({ scores: [0] })], {
      batchSize: 1,
      concurrency: 1,
    });
    const values = await valuesOf(terms, ['a', 'b', 'c']);
    expect(values.map(({ status }) => status)).toEqual(['ok', 'missing', 'ok']);
  });
});
