import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, type RgbImage, Rng } from '../../src/core/index.ts';
import { decodeImage, loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../../src/data/index.ts';
import { tf } from '../../src/engine/index.ts';
import { appendTokens, collate, preprocess, responseLogProbabilities } from '../../src/model/index.ts';
import {
  createScorer,
  questionSequence,
  type ScoreImagesOptions,
  type Scorer,
  scoreDistribution,
} from '../../src/scoring/index.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../train/stage-fixture.ts';
import { steady } from './steady.ts';

let fixture: StageFixture;
let scorer: Scorer;
let prompt: RenderedPrompt;
/** Pictures of three sizes and shapes. */
let images: RgbImage[];

beforeAll(async () => {
  fixture = await createStageFixture();
  scorer = await createScorer({ model: await teachContract(fixture) });
  prompt = renderPrompt(await loadShippedPrompt('student/quality.v1'));
  const files = (await records(fixture.data)).slice(0, 4).map(({ image }) => join(fixture.data, image));
  images = await Promise.all(files.map((file) => decodeImage(file)));
  images.push(
    await decodeImage(await sharp(files[0]).resize(140, 84, { fit: 'fill' }).png().toBuffer()),
    await decodeImage(await sharp(files[1]).resize(61, 90, { fit: 'fill' }).png().toBuffer()),
  );
});
afterAll(() => fixture.remove());

describe('a score does not depend on the pictures beside it', () => {
  it.each([1, 4, 64])('greedy, %i pictures a pass: the same text as alone', async (batchSize) => {
    const together = await scorer.scoreBatch(images, { batchSize });
    for (const [i, image] of images.entries()) {
      expect(steady(await scorer.score(image))).toEqual(steady(together[i]!));
    }
    expect(new Set(together.map(({ text }) => text)).size).toBeGreaterThan(1);
    for (const { status } of together) expect(status).toBe('ok');
  });

  it.each([1, 4, 64])('expected score, %i pictures a pass: within 1e-4 of alone', async (batchSize) => {
    const together = await scorer.scoreBatch(images, { mode: 'expected', batchSize });
    for (const [i, image] of images.entries()) {
      const alone = await scorer.score(image, { mode: 'expected' });
      expect(Math.abs(alone.score! - together[i]!.score!)).toBeLessThan(1e-4);
      expect(Math.abs(alone.std! - together[i]!.std!)).toBeLessThan(1e-4);
    }
  });

  it('in another order it is the same', async () => {
    const order = new Rng(3).shuffle(images.map((_, i) => i));
    const shuffled = await scorer.scoreBatch(order.map((i) => images[i]!));
    const straight = await scorer.scoreBatch(images);
    expect(shuffled.map(steady)).toEqual(order.map((i) => steady(straight[i]!)));
  });
});

it.each(['greedy', 'expected'] as const)(
  '%s: a PNG, a lossless WebP and the pixels of one picture give exactly one score',
  async (mode) => {
    const { data, width, height } = images[0]!;
    const picture = () => sharp(data, { raw: { width, height, channels: 3 } });
    const png = await picture().png().toBuffer();
    const webp = await picture().webp({ lossless: true }).toBuffer();
    const scores = [];
    for (const input of [png, webp, images[0]!]) scores.push(steady(await scorer.score(input, { mode })));
    expect(scores[1]).toEqual(scores[0]);
    expect(scores[2]).toEqual(scores[0]);
  },
);

describe('the expected score', () => {
  const log = (probabilities: readonly number[]): number[] => probabilities.map(Math.log);
  const certain = (digit: number): number[] =>
    log(Array.from({ length: 10 }, (_, d) => (d === digit ? 1 : 0)));
  const even = Array.from({ length: 10 }, () => 0);

  it('is the mean of a hand-made distribution, with its spread', () => {
    // 3.5 and 4.5 with equal odds, the third digit at its mean: 3.545 and 4.545.
    const { mean, std } = scoreDistribution(log([0, 0, 0.5, 0.5, 0]), Array(5).fill(certain(5)));
    expect(mean).toBeCloseTo(4.045, 12);
    expect(std).toBeCloseTo(0.5, 12);
  });

  it('renormalises over digits: what other tokens hold does not count', () => {
    // 2.0 with .03 and 3.0 with .01 of the whole: odds of 3 to 1.
    const { mean, std } = scoreDistribution(log([0, 0.03, 0.01, 0, 0]), Array(5).fill(certain(0)));
    expect(mean).toBeCloseTo(0.75 * 2.045 + 0.25 * 3.045, 12);
    expect(std).toBeCloseTo(Math.sqrt(0.75 * 0.25), 12);
  });

  it('weights the second digit by the first: even digits after 1 average 1.495', () => {
    const { mean, std } = scoreDistribution(log([1, 0, 0, 0, 0]), Array(5).fill(even));
    expect(mean).toBeCloseTo(1.495, 12);
    expect(std).toBeCloseTo(Math.sqrt(0.0825), 12); // of 0, 0.1, ..., 0.9: (100 - 1) / 12 / 100
  });

  it('counts nothing above 5', () => {
    const { mean, std } = scoreDistribution(log([0, 0, 0, 0, 1]), Array(5).fill(even));
    expect(mean).toBeCloseTo(5, 12);
    expect(std).toBeCloseTo(0, 6);
  });

  it('agrees with full forward passes over all fifty two-digit answers', async () => {
    const { model } = scorer;
    const { tokenizer } = model;
    const image = images[2]!;
    const result = await scorer.score(image, { mode: 'expected' });
    const stem = appendTokens(
      questionSequence(model, prompt, image),
      tokenizer.encode(result.text.slice(0, result.text.indexOf('<answer>') + '<answer>'.length)),
      'observation',
    );
    const logProbabilitiesOf = async (answer: string): Promise<number[]> => {
      const ids = tokenizer.encode(answer);
      expect(ids).toHaveLength(3);
      const batch = collate([appendTokens(stem, ids, 'action')], model.config);
      const scores = tf.tidy(() => responseLogProbabilities(model, batch).logProbabilities);
      const values = Array.from((await scores.data()).subarray(0, 3));
      scores.dispose();
      return values;
    };
    const odds: { value: number; first: number; second: number; d1: number }[] = [];
    for (let d1 = 1; d1 <= 5; d1++) {
      for (let d2 = 0; d2 <= 9; d2++) {
        const [first, , second] = await logProbabilitiesOf(`${d1}.${d2}`);
        const value = Math.min(5, d1 + d2 / 10 + 0.045);
        odds.push({ d1, value, first: Math.exp(first!), second: Math.exp(second!) });
      }
    }
    const total1 = odds.reduce((sum, { first }) => sum + first, 0) / 10;
    const total2 = (digit: number): number =>
      odds.reduce((sum, { d1, second }) => sum + (d1 === digit ? second : 0), 0);
    const weights = odds.map(({ d1, first, second }) => (first / total1) * (second / total2(d1)));
    const mean = odds.reduce((sum, { value }, i) => sum + weights[i]! * value, 0);
    const variance = odds.reduce((sum, { value }, i) => sum + weights[i]! * (value - mean) ** 2, 0);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
    expect(Math.abs(result.score! - mean)).toBeLessThan(1e-4);
    expect(Math.abs(result.std! - Math.sqrt(variance))).toBeLessThan(1e-4);
    expect(result.std).toBeGreaterThan(0.01);
  });
});

describe('output without an answer', () => {
  it('of random weights has a status and no score, in every mode', async () => {
    const random = await createScorer({ model: fixture.random });
    for (const mode of ['greedy', 'expected', 'sampled'] as const) {
      for (const result of await random.scoreBatch(images, { mode, maxNewTokens: 12 })) {
        expect(result.status).toMatch(/^(unparsable|truncated)$/);
        expect(result).toMatchObject({ score: null, level: null, wellFormed: false });
        expect(result).not.toHaveProperty('std');
      }
    }
    random.close();
  });

  it('cut before the answer is truncated, not unparsable', async () => {
    const result = await scorer.score(images[0]!, { maxNewTokens: 4 });
    expect(result).toMatchObject({ status: 'truncated', score: null, finishReason: 'length' });
  });
});

it('a sampled score is repeated by its seed and changed by another', async () => {
  const sampled = async (seed: number) =>
    (await scorer.scoreBatch(images, { mode: 'sampled', temperature: 0.8, seed })).map(({ text }) => text);
  expect(await sampled(5)).toEqual(await sampled(5));
  expect(await sampled(6)).not.toEqual(await sampled(5));
});

it('knows its weights: the hash of the file, the prompt and the mode', async () => {
  const { provenance } = scorer;
  expect(provenance).toMatchObject({
    model: join(fixture.path('taught'), 'model'),
    mode: 'greedy',
    prompt: { id: prompt.id, hash: prompt.hash },
  });
  const random = await createScorer({ model: fixture.random });
  expect(random.provenance.modelSha256).not.toBe(provenance.modelSha256);
  random.close();
  await expect(random.score(images[0]!)).rejects.toMatchObject({ code: 'INPUT' });
});

describe('what is no picture', () => {
  it.each([
    ['text', Buffer.from('this is no image')],
    ['no bytes', Buffer.alloc(0)],
  ])('%s is an InputError', async (_what, input) => {
    await expect(scorer.score(input)).rejects.toMatchObject({ code: 'INPUT' });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['too few bytes', { data: new Uint8Array(3), width: 2, height: 2 }],
    ['RGBA as RGB', { data: new Uint8Array(56 * 56 * 4), width: 56, height: 56 }],
    ['a fractional width', { data: new Uint8Array(315), width: 10.5, height: 10 }],
  ])('%s is an InputError in score, scoreBatch, shrink and requireScorable', async (_what, input) => {
    const picture = input as RgbImage;
    await expect(scorer.score(picture)).rejects.toMatchObject({ code: 'INPUT' });
    await expect(scorer.scoreBatch([images[0]!, picture])).rejects.toMatchObject({ code: 'INPUT' });
    expect(() => scorer.shrink(picture)).toThrow(InputError);
    expect(() => scorer.requireScorable(picture)).toThrow(InputError);
  });

  it('no list of pictures is an InputError', async () => {
    await expect(scorer.scoreBatch(images[0] as unknown as RgbImage[])).rejects.toThrow('a list of pictures');
  });

  it('a strip of more than 200 to 1 is refused with its size', () => {
    const strip = { data: new Uint8Array(201 * 3), width: 201, height: 1 };
    expect(() => scorer.requireScorable(strip)).toThrow('the image is 201x1, an aspect ratio above 200');
    const shorter = { data: new Uint8Array(200 * 3), width: 200, height: 1 };
    expect(() => scorer.requireScorable(shorter)).not.toThrow();
  });
});

describe('options that cannot be carried out are a ConfigError', () => {
  it.each<[string, ScoreImagesOptions]>([
    ['mode', { mode: 'best' as 'greedy' }],
    ['temperature', { temperature: 0 }],
    ['temperature', { temperature: Number.NaN }],
    ['topP', { topP: 2 }],
    ['maxNewTokens', { maxNewTokens: 0 }],
    ['batchSize', { batchSize: 0 }],
    ['batchSize', { batchSize: 1.5 }],
  ])('%s: %j', async (name, options) => {
    await expect(scorer.score(images[0]!, options)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(`${name} is `),
    });
  });

  it('what is no model is one too', async () => {
    await expect(createScorer({ model: {} as typeof scorer.model })).rejects.toMatchObject({
      code: 'CONFIG',
    });
  });

  it('an unknown mode or prompt of a scorer too', async () => {
    const { model } = scorer;
    await expect(createScorer({ model, mode: 'best' as 'greedy' })).rejects.toMatchObject({ code: 'CONFIG' });
    await expect(createScorer({ model, prompt: 'none.v1' })).rejects.toMatchObject({ code: 'CONFIG' });
  });
});

describe('a large picture', () => {
  it('is shrunk to what the model sees, and scores alike', async () => {
    const { data, width, height } = images[0]!;
    const png = await sharp(data, { raw: { width, height, channels: 3 } })
      .resize(700, 500, { fit: 'fill' })
      .png()
      .toBuffer();
    const large = await decodeImage(png);
    const small = scorer.shrink(large);
    expect(small.width * small.height).toBeLessThanOrEqual(scorer.model.processor.maxPixels);
    expect(preprocess(small, scorer.model.processor)).toEqual(preprocess(large, scorer.model.processor));
  });

  it('stays as it is where a second resizing would change it: a long strip', () => {
    const strip = { data: new Uint8Array(5000 * 30 * 3).fill(9), width: 5000, height: 30 };
    const { processor } = scorer.model;
    expect(preprocess(scorer.shrink(strip), processor)).toEqual(preprocess(strip, processor));
  });
});

it('the expected score leaves the written one beside it', async () => {
  const greedy = await scorer.score(images[0]!);
  const expected = await scorer.score(images[0]!, { mode: 'expected' });
  expect(expected.scoreWritten).toBe(greedy.score);
  expect(greedy).not.toHaveProperty('scoreWritten');
});

it('takes an encoded file in any array of bytes', async () => {
  const { data, width, height } = images[0]!;
  const png = await sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  expect(steady(await scorer.score(Uint8Array.from(png)))).toEqual(steady(await scorer.score(png)));
});
