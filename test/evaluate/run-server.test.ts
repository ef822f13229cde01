import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImageRecord } from '../../src/data/index.ts';
import { pictureUrl, serverAnswerer, serverPrompt } from '../../src/evaluate/index.ts';
import { createChatClient } from '../../src/remote/index.ts';
import { answer, type Handler, json, startChatServer } from '../remote/chat-server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'server-'));
  const gradient = Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, i) => i % 251));
  const picture = sharp(gradient, { raw: { width: 40, height: 30, channels: 3 } });
  await picture.clone().png().toFile(join(folder, 'a.png'));
  await picture.clone().jpeg().toFile(join(folder, 'b.jpg'));
  await picture.clone().tiff({ compression: 'none' }).toFile(join(folder, 'c.tif'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const record = (image: string): ImageRecord => ({
  ...{ id: image, image, dataset: 'made-up', split: 'test', mos: 3, mosStd: null, raters: null },
  ...{ distortions: [], content: null, group: image, source: 'imported', generator: null },
});
const decoded = (url: string) => sharp(Buffer.from(url.split(',')[1]!, 'base64'));

describe('the picture that is sent', () => {
  it.each([
    ['a.png', 'image/png'],
    ['b.jpg', 'image/jpeg'],
  ])('%s within the bound goes as its own bytes', async (name, mime) => {
    const url = await pictureUrl(join(folder, name), 1200);
    const bytes = await sharp(join(folder, name)).raw().toBuffer();
    expect(url.startsWith(`data:${mime};base64,`)).toBe(true);
    expect(await decoded(url).raw().toBuffer()).toEqual(bytes);
  });

  it('another format goes as PNG, the same pixels', async () => {
    const url = await pictureUrl(join(folder, 'c.tif'), 1200);
    expect(url.startsWith('data:image/png;')).toBe(true);
    expect(await decoded(url).raw().toBuffer()).toEqual(await sharp(join(folder, 'a.png')).raw().toBuffer());
  });

  it('a larger one is scaled: 40 x 30 to 300 pixels is 20 x 15', async () => {
    const { width, height, format } = await decoded(await pictureUrl(join(folder, 'b.jpg'), 300)).metadata();
    expect({ width, height, format }).toEqual({ width: 20, height: 15, format: 'png' });
  });
});

describe('answers of a server', () => {
  async function ask(
    handlers: Handler[],
    reading: { mode: 'greedy' | 'sampled'; samples?: number; seed?: number } = { mode: 'greedy' },
    images = ['a.png'],
  ) {
    const server = await startChatServer(...handlers);
    const client = createChatClient(
      { baseUrl: server.baseUrl, model: 'served' },
      { retries: 0, concurrency: 1, firstDelayMs: 1 },
    );
    const by = serverAnswerer(await serverPrompt(), { client, concurrency: 2, maxPixels: 5000 });
    const failures: string[] = [];
    const rows = await by.answer(
      images.map(record),
      folder,
      { maxNewTokens: 77, ...reading },
      {
        firstIndex: 0,
        onFailure: (reason) => failures.push(reason),
      },
    );
    return { rows, failures, requests: server.requests };
  }
  const said = (score: string) => `<think>the quality is fair.</think><answer>${score}</answer>`;

  it('greedy: picture first, then the task, temperature 0; read by the output contract', async () => {
    const { rows, requests } = await ask([answer({ texts: [said('3.10')] })]);
    const { body } = requests[0]!;
    expect(body).toMatchObject({ model: 'served', temperature: 0, max_tokens: 77 });
    expect(body.messages).toHaveLength(1);
    expect(body.messages[0].content[0].image_url.url).toMatch(/^data:image\/png;base64,/);
    expect(body.messages[0].content[1].text).toContain('<answer>3.42</answer>');
    expect(body.messages[0].content[1].text).not.toContain('{{');
    expect(rows).toMatchObject([
      { id: 'a.png', mos: 3, score: 3.1, status: 'ok', levelStated: 'fair', wellFormed: true },
    ]);
  });

  it('several samples: their mean, one without a score counted', async () => {
    const { rows, requests } = await ask([answer({ texts: [said('2.00'), 'sorry', said('3.00')] })], {
      mode: 'sampled',
      samples: 3,
      seed: 9,
    });
    expect(requests[0]!.body).toMatchObject({ n: 3, seed: 9, temperature: 1 });
    expect(rows).toMatchObject([{ score: 2.5, sampleScores: [2, null, 3] }]);
  });

  it('text without a score is a row without one', async () => {
    const { rows } = await ask([answer({ texts: ['It looks nice.'] })]);
    expect(rows).toMatchObject([{ score: null, status: 'unparsable', text: 'It looks nice.' }]);
  });

  it('an empty reply is a row of its own kind, an overload none', async () => {
    const empty = await ask([answer({ texts: [''] })]);
    expect(empty.rows).toMatchObject([{ score: null, status: 'empty', text: '' }]);
    const overloaded = await ask([json({ error: { message: 'busy' } }, 503)]);
    expect(overloaded).toMatchObject({ rows: [], failures: ['server'] });
  });

  it('a wrong key ends the run: no other picture would fare better', async () => {
    await expect(ask([json({ error: { message: 'no' } }, 401)])).rejects.toMatchObject({ code: 'REMOTE' });
  });

  it('readings that need probabilities are a ConfigError', async () => {
    const client = createChatClient({ baseUrl: 'http://127.0.0.1:9/v1', model: 'served' });
    const by = serverAnswerer(await serverPrompt(), { client, concurrency: 1, maxPixels: 5000 });
    expect(() => by.requireReading({ mode: 'levels', maxNewTokens: 1 })).toThrow('needs the probabilities');
  });
});
