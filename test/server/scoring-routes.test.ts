import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScorer, type Scorer } from '../../src/scoring/index.ts';
import { answerAlone } from '../../src/server/http/reward-routes.ts';
import type { RunningServer } from '../../src/server/index.ts';
import { BASE_MODEL, dataUrl, jpeg, noise, postBytes, postForm, postJson, start } from './server-fixture.ts';

let server: RunningServer;
let scorer: Scorer;
let picture: Buffer;
let expected: number;

beforeAll(async () => {
  server = await start();
  scorer = await createScorer({ model: BASE_MODEL, mode: 'expected-direct', engine: { threads: 1 } });
  picture = await jpeg();
  expected = (await scorer.score(picture)).score!;
});
afterAll(async () => {
  scorer?.close();
  await server?.stop();
});

describe('POST /v1/score', () => {
  it('gives the library’s score, however the picture is sent', async () => {
    const url = `${server.url}/v1/score`;
    const replies = await Promise.all([
      postBytes(url, picture, 'image/jpeg'),
      postBytes(url, picture, 'image/png'),
      postBytes(url, picture),
      postForm(url, [['image', picture]]),
      postForm(url, [['image', picture.toString('base64')]]),
      postJson(url, { image: picture.toString('base64') }),
      postJson(url, { image: dataUrl(picture) }),
    ]);
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'ok', width: 84, height: 56, mode: 'expected-direct' });
      // Pictures that come together are scored together.
      expect(Math.abs(body.score - expected)).toBeLessThan(1e-4);
    }
  });

  it('tells which weights and which prompt it used', async () => {
    const { body } = await postBytes(`${server.url}/v1/score`, picture);
    const { modelSha256, prompt } = scorer.provenance;
    expect(body.provenance).toEqual({ model: 'q-ponder', modelSha256, prompt, mode: 'expected-direct' });
  });

  it('takes the same options from query, form and JSON', async () => {
    const url = `${server.url}/v1/score`;
    const { score, status, text } = await scorer.score(picture, { mode: 'greedy', maxNewTokens: 12 });
    const replies = await Promise.all([
      postBytes(`${url}?mode=greedy&maxNewTokens=12`, picture),
      postForm(url, [
        ['image', picture],
        ['mode', 'greedy'],
        ['maxNewTokens', '12'],
      ]),
      postJson(url, { image: dataUrl(picture), mode: 'greedy', maxNewTokens: 12 }),
    ]);
    for (const { body } of replies) expect(body).toMatchObject({ score, status, text, mode: 'greedy' });
  });

  it('draws the same samples for a seed, whatever runs beside it', async () => {
    const url = `${server.url}/v1/score?mode=sampled&maxNewTokens=12&seed=7&samples=2`;
    const { text, samples } = await scorer.score(picture, {
      mode: 'sampled',
      maxNewTokens: 12,
      seed: 7,
      samples: 2,
    });
    const [first, , second] = await Promise.all([1, 2, 3].map(() => postBytes(url, picture)));
    expect(first!.body).toMatchObject({ text, samples });
    expect(second!.body).toMatchObject({ text, samples });
  });
});

it('refuses an option that a form gives twice', async () => {
  const { status, body } = await postForm(`${server.url}/v1/score`, [
    ['image', picture],
    ['seed', '1'],
    ['seed', '2'],
  ]);
  expect(status).toBe(400);
  expect(body.error.message).toContain('the field seed is given several times');
});

describe('POST /v1/score/batch', () => {
  it('goes on past a bad picture and reports it', async () => {
    const other = await noise(56, 56, 2).png().toBuffer();
    const { status, body } = await postForm(`${server.url}/v1/score/batch`, [
      ['images', picture],
      ['images', Buffer.from('this is no picture')],
      ['images', picture.subarray(0, 300)],
      ['images', other],
    ]);
    expect(status).toBe(200);
    expect([body.scored, body.failed]).toEqual([2, 2]);
    expect(Math.abs(body.results[0].score - expected)).toBeLessThan(1e-4);
    expect(body.results[1]).toMatchObject({ index: 1, error: { code: 'INPUT' } });
    expect(body.results[2]).toMatchObject({ index: 2, error: { code: 'INPUT' } });
    expect(Math.abs(body.results[3].score - (await scorer.score(other)).score!)).toBeLessThan(1e-4);
  });

  it('goes on past pictures that are refused before they are looked at', async () => {
    const form = await postForm(`${server.url}/v1/score/batch`, [
      ['images', new Uint8Array(0)],
      ['images', picture],
    ]);
    expect(form.body).toMatchObject({ scored: 1, failed: 1 });
    expect(form.body.results[0]).toMatchObject({
      error: { code: 'INPUT', message: expect.stringContaining('empty') },
    });
    const images = ['http://127.0.0.1/a.png', '', 'file:///etc/passwd', dataUrl(picture)];
    const { status, body } = await postJson(`${server.url}/v1/score/batch`, { images });
    expect([status, body.scored, body.failed]).toEqual([200, 1, 3]);
    expect(body.results.map(({ error }: { error?: { code: string } }) => error?.code)).toEqual([
      'INPUT',
      'INPUT',
      'INPUT',
      undefined,
    ]);
    expect(body.results[2].error.message).toContain('neither base64 nor a data URL');
    const rewards = await postJson(`${server.url}/v1/rewards`, { images });
    expect(rewards.body.missing.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
    expect(Math.abs(rewards.body.rewards[3] - (expected - 1) / 4)).toBeLessThan(1e-4);
  });

  it('takes a list in JSON', async () => {
    const images = [picture.toString('base64'), dataUrl(picture)];
    const { body } = await postJson(`${server.url}/v1/score/batch`, { images });
    expect([body.scored, body.failed]).toEqual([2, 0]);
  });
});

describe('POST /v1/compare', () => {
  it('gives what the library’s comparison gives', async () => {
    const other = await noise(84, 56, 3).blur(2).png().toBuffer();
    const library = await scorer.compare(picture, other);
    const { body } = await postForm(`${server.url}/v1/compare`, [
      ['a', picture],
      ['b', other],
    ]);
    expect(body.better).toBe(library.better);
    expect(Math.abs(body.difference - library.difference!)).toBeLessThan(2e-4);
    expect(Math.abs(body.probability - library.probability!)).toBeLessThan(1e-3);
    expect(body.a).not.toHaveProperty('distribution');
  });

  it('draws what the library draws, other numbers for each of the two', async () => {
    const asked = { mode: 'sampled', samples: 3, seed: 5, maxNewTokens: 12 } as const;
    const library = await scorer.compare(picture, picture, asked);
    const { body } = await postJson(`${server.url}/v1/compare`, {
      a: dataUrl(picture),
      b: dataUrl(picture),
      ...asked,
    });
    expect([body.a.text, body.b.text]).toEqual([library.a.text, library.b.text]);
    expect(body.a.text).not.toBe(body.b.text);
    expect(body.provenance.mode).toBe('sampled');
  });

  it('of a server whose usual mode says nothing about its doubt is made in expected, as in the library', async () => {
    const doubtless = await start({ settings: { mode: 'good-poor' } });
    const body = { a: dataUrl(picture), b: dataUrl(picture), maxNewTokens: 4 };
    const compared = await postJson(`${doubtless.url}/v1/compare`, body);
    const asked = await postJson(`${doubtless.url}/v1/compare`, { ...body, mode: 'good-poor' });
    await doubtless.stop();
    expect([compared.body.a.mode, compared.body.provenance.mode]).toEqual(['expected', 'expected']);
    expect([asked.body.a.mode, asked.body.probability]).toEqual(['good-poor', null]);
  });

  it.each([
    ['a cut picture', () => picture.subarray(0, 300)],
    ['an empty one', () => new Uint8Array(0)],
  ])('says which of the two is %s', async (_what, bad) => {
    const { status, body } = await postForm(`${server.url}/v1/compare`, [
      ['a', picture],
      ['b', bad()],
    ]);
    expect(status).toBe(422);
    expect(body.error.message).toMatch(/^picture b: /);
  });

  it.each([
    [['a', 'a'], /field a is given several times/],
    [['b', 'image'], /lacks a and b/],
  ])('the fields %j are no pair', async (names, message) => {
    const { status, body } = await postForm(
      `${server.url}/v1/compare`,
      names.map((name) => [name, picture] as const),
    );
    expect(status).toBe(400);
    expect(body.error.message).toMatch(message);
  });
});

describe('POST /v1/rewards', () => {
  const url = () => `${server.url}/v1/rewards`;

  it('rewards answers by the distance of their score, without a model', async () => {
    const prompt = '<|im_start|>user\nHow good?<|im_end|>\n<|im_start|>assistant\n';
    const answer = '<think>the overall quality is good.</think><answer>3.80</answer>';
    const { body } = await postJson(url(), {
      query: [`${prompt}${answer}<|im_end|>\n`, `${prompt}no answer at all`],
      prompts: [prompt, prompt],
      labels: [4.2, '3'],
    });
    // Linear accuracy 1 - 0.4 / 4, level agreement 0.3, format 0.1; the second earns nothing.
    expect(body.rewards[0]).toBeCloseTo(0.9 + 0.3 + 0.1, 12);
    expect(body.rewards[1]).toBe(0);
    expect(body.scores[0]).toBeCloseTo(1.3 / 1.4, 12);
    expect(body.extra_logs.accuracy).toBeCloseTo(0.45, 12);
    expect(body.missing).toEqual([]);
  });

  it('takes time in proportion to what a stranger sends', () => {
    const spaces = ' '.repeat(1_000_000);
    const tokens = '<|im_end|>'.repeat(100_000);
    // In the square of their length these would take hours.
    expect(answerAlone(`${spaces}x`, '')).toBe('x');
    expect(answerAlone(`x${spaces}${tokens}y`, '')).toHaveLength(2_000_002);
    expect(answerAlone(`x${spaces}${tokens}${spaces}<|endoftext|>`, '')).toBe('x');
    expect(answerAlone('a < b |>', '')).toBe('a < b |>');
  });

  it('rewards pictures by their score, null for one without', async () => {
    const { body } = await postJson(url(), { images: [dataUrl(picture), 'AAAA'] });
    expect(Math.abs(body.rewards[0] - (expected - 1) / 4)).toBeLessThan(1e-4);
    expect(body.rewards[1]).toBeNull();
    expect(body.missing).toEqual([{ index: 1, reason: expect.stringContaining('not an image') }]);
  });

  it('refuses answers without as many labels', async () => {
    const { status, body } = await postJson(url(), { query: ['a', 'b'], labels: [3] });
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
