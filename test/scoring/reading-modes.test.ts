import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../src/core/index.ts';
import { decodeImage, loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../../src/data/index.ts';
import { tf } from '../../src/engine/index.ts';
import { appendTokens, collate, generate, responseLogProbabilities } from '../../src/model/index.ts';
import {
  createScorer,
  goodPoorScore,
  levelDistribution,
  questionSequence,
  readCompletion,
  type Scorer,
} from '../../src/scoring/index.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../train/stage-fixture.ts';
import { steady } from './steady.ts';

let fixture: StageFixture;
let scorer: Scorer;
let prompt: RenderedPrompt;
let images: RgbImage[];

beforeAll(async () => {
  fixture = await createStageFixture();
  scorer = await createScorer({ model: await teachContract(fixture) });
  prompt = renderPrompt(await loadShippedPrompt('student/quality.v1'));
  const files = (await records(fixture.data)).slice(0, 5).map(({ image }) => join(fixture.data, image));
  images = await Promise.all(files.map((file) => decodeImage(file)));
});
afterAll(() => fixture.remove());

/** Log-probabilities of words behind a stem by the training forward pass, one word at a time. */
async function wordLogProbabilities(
  image: RgbImage,
  stem: string,
  words: readonly string[],
): Promise<number[]> {
  const { model } = scorer;
  const before = appendTokens(
    questionSequence(model, prompt, image),
    model.tokenizer.encode(stem),
    'observation',
  );
  const sums: number[] = [];
  for (const word of words) {
    const ids = model.tokenizer.encode(word);
    const batch = collate([appendTokens(before, ids, 'action')], model.config);
    const scores = tf.tidy(() => responseLogProbabilities(model, batch).logProbabilities);
    const values = Array.from((await scores.data()).subarray(0, ids.length));
    scores.dispose();
    sums.push(values.reduce((sum, value) => sum + value, 0));
  }
  return sums;
}

const LEVEL_WORDS = [' bad', ' poor', ' fair', ' good', ' excellent'];

describe('readings without generation agree with full forward passes', () => {
  it('levels-direct and good-poor', async () => {
    const words = await wordLogProbabilities(images[1]!, '<think>the overall quality is', LEVEL_WORDS);
    const levels = await scorer.score(images[1]!, { mode: 'levels-direct' });
    expect(levels.score!).toBeCloseTo(levelDistribution(words).mean, 4);
    expect(levels.std!).toBeCloseTo(levelDistribution(words).std, 4);
    const goodPoor = await scorer.score(images[1]!, { mode: 'good-poor' });
    expect(goodPoor.score!).toBeCloseTo(goodPoorScore(words[3]!, words[1]!), 4);
  });

  it('expected-direct', async () => {
    const digits = Array.from({ length: 50 }, (_, i) => `${1 + Math.floor(i / 10)}.${i % 10}`);
    const joint = await wordLogProbabilities(images[2]!, '<answer>', digits);
    const firsts = await wordLogProbabilities(images[2]!, '<answer>', ['1', '2', '3', '4', '5']);
    const total = firsts.reduce((sum, value) => sum + Math.exp(value), 0);
    let mean = 0;
    firsts.forEach((first, i) => {
      const row = joint.slice(10 * i, 10 * i + 10).map(Math.exp);
      const rowTotal = row.reduce((sum, value) => sum + value, 0);
      row.forEach((p, d) => {
        mean += (Math.exp(first) / total) * (p / rowTotal) * Math.min(5, i + 1 + d / 10 + 0.045);
      });
    });
    const { score } = await scorer.score(images[2]!, { mode: 'expected-direct' });
    expect(Math.abs(score! - mean)).toBeLessThan(2e-4);
  });
});

it('levels reads the words at the place where the greedy reasoning states its level', async () => {
  const greedy = await scorer.score(images[0]!);
  const levels = await scorer.score(images[0]!, { mode: 'levels' });
  const stated = [...greedy.reasoning!.matchAll(/ (?:bad|poor|fair|good|excellent)\b/g)].at(-1)!;
  const stem = `<think>${greedy.reasoning!.slice(0, stated.index)}`;
  const words = await wordLogProbabilities(images[0]!, stem, LEVEL_WORDS);
  expect(levels.score!).toBeCloseTo(levelDistribution(words).mean, 3);
  expect(levels).toMatchObject({ text: greedy.text, scoreWritten: greedy.score });
});

it.each(['levels', 'expected-direct', 'levels-direct', 'good-poor'] as const)(
  '%s: together within 1e-4 of alone',
  async (mode) => {
    const together = await scorer.scoreBatch(images, { mode });
    for (const [i, image] of images.entries()) {
      const alone = await scorer.score(image, { mode });
      expect(Math.abs(alone.score! - together[i]!.score!)).toBeLessThan(1e-4);
    }
  },
);

describe('several samples of one image', () => {
  it('are those that generation draws with the seed', async () => {
    const result = await scorer.score(images[0]!, { mode: 'sampled', samples: 3, seed: 5, temperature: 0.7 });
    const [drawn] = await generate(scorer.model, [questionSequence(scorer.model, prompt, images[0]!)], {
      maxNewTokens: 96,
      temperature: 0.7,
      samplesPerPrompt: 3,
      rng: new Rng(5).fork('score', 0),
    });
    expect(result.samples).toEqual({ drawn: 3, scores: drawn!.map((one) => readCompletion(one).score) });
  });

  it('a series scored in parts gives the answers of the series scored at once', async () => {
    const options = { mode: 'sampled', samples: 2, seed: 1, batchSize: 4 } as const;
    const whole = await scorer.scoreBatch(images.slice(0, 4), options);
    const parts = [
      ...(await scorer.scoreBatch(images.slice(0, 2), options)),
      ...(await scorer.scoreBatch(images.slice(2, 4), { ...options, firstIndex: 2 })),
    ];
    expect(parts.map(steady)).toEqual(whole.map(steady));
  });
});

it('random weights without an answer have no level score', async () => {
  const random = await createScorer({ model: fixture.random });
  const results = await random.scoreBatch(images, { mode: 'levels', maxNewTokens: 12 });
  for (const result of results) expect(result).toMatchObject({ score: null, level: null });
  random.close();
});

it.each([
  ['samples', { samples: 0 }],
  ['samples', { samples: 1.5 }],
  ['firstIndex', { firstIndex: -1 }],
])('%s: %j is a ConfigError', async (name, options) => {
  await expect(scorer.score(images[0]!, options)).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining(`${name} is `),
  });
});
