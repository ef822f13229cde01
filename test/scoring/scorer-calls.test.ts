import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256OfFile } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import {
  type BatchItem,
  createScorer,
  type Picture,
  type ScoreEvent,
  type Scorer,
  type ScoringMode,
} from '../../src/scoring/index.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../train/stage-fixture.ts';
import { steady } from './steady.ts';

let fixture: StageFixture;
let scorer: Scorer;
let model: string;
let files: string[];
let broken: string;

beforeAll(async () => {
  fixture = await createStageFixture();
  model = await teachContract(fixture);
  scorer = await createScorer({ model, mode: 'expected' });
  files = (await records(fixture.data)).slice(0, 6).map(({ image }) => join(fixture.data, image));
  broken = fixture.path('broken.png');
  await writeFile(broken, (await readFile(files[0]!)).subarray(0, 200));
});
afterAll(() => fixture.remove());

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
const texts = (events: readonly ScoreEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');

describe('a score says where it comes from', () => {
  it('hashes of weights and prompt, the mode, and its timings', async () => {
    const score = await scorer.score(files[0]!);
    expect(score).toMatchObject({
      modelSha256: await sha256OfFile(join(model, 'model.safetensors')),
      promptHash: scorer.provenance.prompt.hash,
      mode: 'expected',
      timings: { sharedBy: 1 },
    });
    expect(score.timings.openMs).toBeGreaterThan(0);
    expect(score.timings.modelMs).toBeGreaterThan(0);
  });

  it('the interval holds 95 % of the distribution, which comes only when it is asked for', async () => {
    const plain = await scorer.score(files[0]!);
    expect(plain).not.toHaveProperty('distribution');
    const { distribution, ...rest } = await scorer.score(files[0]!, { distribution: true });
    expect(steady(rest)).toEqual(steady(plain));
    const { low, high } = plain.interval!;
    const inside = distribution!.scores.reduce((sum, value, i) => {
      const share = (Math.min(high, value + 0.05) - Math.max(low, value - 0.05)) / 0.1;
      return sum + Math.max(0, Math.min(1, share)) * distribution!.probabilities[i]!;
    }, 0);
    // Where the scale cuts a stretch off, a little more than 95 % lies inside.
    expect(inside).toBeGreaterThan(0.949);
    expect(inside).toBeLessThan(0.98);
    const mean = distribution!.scores.reduce((sum, x, i) => sum + x * distribution!.probabilities[i]!, 0);
    expect(mean).toBeCloseTo(plain.score!, 9);
  });

  it('greedy and a single sample have no interval; samples have that of their scores', async () => {
    expect(await scorer.score(files[0]!, { mode: 'greedy' })).not.toHaveProperty('interval');
    expect(await scorer.score(files[0]!, { mode: 'sampled' })).not.toHaveProperty('interval');
    const sampled = await scorer.score(files[0]!, {
      mode: 'sampled',
      samples: 8,
      temperature: 0.5,
    });
    const scores = sampled.samples!.scores.filter((score) => score !== null);
    expect(scores.length).toBeGreaterThan(1);
    expect(sampled.interval).toEqual({ low: Math.min(...scores), high: Math.max(...scores), level: 0.95 });
  });
});

describe('explain', () => {
  it('false leaves the words out and nothing else', async () => {
    const whole = await scorer.score(files[0]!);
    const bare = await scorer.score(files[0]!, { explain: false });
    expect(whole.reasoning).toMatch(/the quality is/);
    expect(steady(bare)).toEqual({ ...steady(whole), reasoning: null, text: '' });
    expect(steady(await scorer.score(files[0]!, { explain: true }))).toEqual(steady(whole));
  });

  it.each(['expected-direct', 'levels-direct', 'good-poor'] as const)(
    'true is a ConfigError in the mode %s',
    async (mode) => {
      await expect(scorer.score(files[0]!, { mode, explain: true })).rejects.toMatchObject({
        code: 'CONFIG',
      });
    },
  );
});

describe('a series', () => {
  const picturesOf = (list: readonly Picture[]) => list.values();

  it('gives what the list gives, in order, whatever the batch size and the order of opening', async () => {
    const list = (await scorer.scoreBatch(files)).map(({ score }) => score!);
    for (const batchSize of [1, 4, 64]) {
      const items = await all(scorer.scoreBatch(picturesOf(files), { batchSize, concurrency: 3 }));
      expect(items.map(({ index }) => index)).toEqual(files.map((_, i) => i));
      items.forEach(({ score }, i) => {
        expect(Math.abs(score!.score! - list[i]!)).toBeLessThan(1e-4);
      });
    }
  });

  it('goes on past bad pictures and tells each one’s error and place', async () => {
    const inputs: Picture[] = [files[0]!, broken, '/nowhere.png', Buffer.alloc(0), files[1]!];
    const items = await all(scorer.scoreBatch(inputs.values()));
    expect(items.map(({ index, error }) => [index, error?.code ?? null])).toEqual([
      [0, null],
      [1, 'INPUT'],
      [2, 'STORAGE'],
      [3, 'INPUT'],
      [4, null],
    ]);
    expect(items[4]!.score!.score).toBeCloseTo((await scorer.score(files[1]!)).score!, 4);
  });

  it('takes what comes over time: async generators and object streams', async () => {
    async function* slowly() {
      for (const file of files.slice(0, 2)) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield file;
      }
    }
    const scores = (items: BatchItem[]) => items.map(({ score }) => score!.score);
    expect(scores(await all(scorer.scoreBatch(slowly())))).toEqual(
      scores(await all(scorer.scoreBatch(Readable.from(files.slice(0, 2))))),
    );
  });

  it('reads no more than a batch ahead, and lets the source clean up when nobody listens any more', async () => {
    let read = 0;
    let closed = false;
    function* endless() {
      try {
        for (;;) yield files[read++ % files.length]!;
      } finally {
        closed = true;
      }
    }
    const items = scorer.scoreBatch(endless(), { batchSize: 4 });
    for (let taken = 0; taken < 6; taken++) {
      await items.next();
      expect(read).toBe(taken < 4 ? 4 : 8);
    }
    await items.return();
    expect(closed).toBe(true);
  });

  it('opens no more pictures at once than allowed', async () => {
    let open = 0;
    let most = 0;
    const png = await readFile(files[0]!);
    const counted = () => ({
      size: png.length,
      arrayBuffer: async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 2));
        open -= 1;
        return new Uint8Array(png).buffer;
      },
    });
    await all(scorer.scoreBatch(Array.from({ length: 12 }, counted).values(), { concurrency: 3 }));
    expect(most).toBe(3);
  });

  it('keeps no tensors', async () => {
    await all(scorer.scoreBatch(picturesOf(files), { batchSize: 2 }));
    const before = tf.memory().numTensors;
    for (let round = 0; round < 3; round++) await all(scorer.scoreBatch(picturesOf(files), { batchSize: 2 }));
    expect(tf.memory().numTensors).toBe(before);
  });

  it('an error of the source itself comes after the pictures before it', async () => {
    function* failing() {
      yield files[0]!;
      throw new Error('no more');
    }
    const items = scorer.scoreBatch(failing());
    expect((await items.next()).value).toMatchObject({ index: 0, error: null });
    await expect(items.next()).rejects.toThrow('no more');
  });

  it('stops with the reason of the signal, even while the source keeps it waiting', async () => {
    const controller = new AbortController();
    const waiting = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const item = scorer.scoreBatch(waiting, { signal: controller.signal }).next();
    controller.abort(new Error('enough'));
    await expect(item).rejects.toThrow('enough');
  });

  it('an empty one has no items; a single picture is no series', async () => {
    expect(await all(scorer.scoreBatch([].values()))).toEqual([]);
    for (const one of [
      files[0]!,
      await readFile(files[0]!),
      Readable.from([Buffer.of(1)], { objectMode: false }),
    ]) {
      await expect(all(scorer.scoreBatch(one as unknown as Iterable<Picture>))).rejects.toThrow(
        'takes a list of pictures, got a single one',
      );
    }
  });

  it('an impossible concurrency is a ConfigError', async () => {
    const items = scorer.scoreBatch(picturesOf(files), { concurrency: 0 });
    await expect(items.next()).rejects.toMatchObject({ code: 'CONFIG' });
  });
});

describe('an abort', () => {
  it('stops the model between its steps', async () => {
    const random = await createScorer({ model: fixture.random });
    const controller = new AbortController();
    const scored = random.score(files[0]!, { maxNewTokens: 400, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 5);
    await expect(scored).rejects.toThrow('enough');
    random.close();
  });

  it('before anything has begun', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(scorer.score(files[0]!, { signal })).rejects.toThrow('enough');
    await expect(scorer.compare(files[0]!, files[1]!, { signal })).rejects.toThrow('enough');
    await expect(scorer.scoreStream(files[0]!, { signal }).next()).rejects.toThrow('enough');
  });
});

describe('words as they come', () => {
  it.each<ScoringMode>(['greedy', 'expected', 'levels'])(
    '%s: pieces of the text, then the score',
    async (mode) => {
      for (const file of files) {
        const events = await all(scorer.scoreStream(file, { mode }));
        const score = await scorer.score(file, { mode });
        expect(texts(events)).toBe(score.text);
        const last = events.at(-1)!;
        expect(last.type === 'score' && steady(last.score)).toEqual(steady(score));
        expect(events.length).toBeGreaterThan(3);
      }
    },
  );

  it('samples are chosen at the end: their text comes whole', async () => {
    const options = { mode: 'sampled', samples: 4, seed: 2 } as const;
    const events = await all(scorer.scoreStream(files[0]!, options));
    const score = await scorer.score(files[0]!, options);
    expect(events).toHaveLength(2);
    expect(texts(events)).toBe(score.text);
  });

  it('modes without words, and explain: false, give the score alone', async () => {
    for (const options of [{ mode: 'expected-direct' }, { explain: false }] as const) {
      const events = await all(scorer.scoreStream(files[0]!, options));
      expect(events.map(({ type }) => type)).toEqual(['score']);
    }
  });

  it('leaves no tensors behind, heard to the end or not', async () => {
    await all(scorer.scoreStream(files[0]!));
    const before = tf.memory().numTensors;
    await all(scorer.scoreStream(files[0]!));
    for await (const event of scorer.scoreStream(files[0]!)) if (event.type === 'text') break;
    expect(tf.memory().numTensors).toBe(before);
  });

  it('text cut short is told as score tells it', async () => {
    const events = await all(scorer.scoreStream(files[0]!, { maxNewTokens: 3 }));
    const score = await scorer.score(files[0]!, { maxNewTokens: 3 });
    expect(score.status).toBe('truncated');
    expect(texts(events)).toBe(score.text);
  });
});

describe('compare', () => {
  it('tells the better one as their scores do, and the other way round when they are swapped', async () => {
    const [a, b] = await scorer.scoreBatch([files[0]!, files[1]!]);
    const one = await scorer.compare(files[0]!, files[1]!);
    const two = await scorer.compare(files[1]!, files[0]!);
    expect(one.difference).toBeCloseTo(a!.score! - b!.score!, 4);
    expect(one.better).toBe(a!.score! > b!.score! ? 'a' : 'b');
    expect(two.difference).toBeCloseTo(-one.difference!, 4);
    expect(two.probability! + one.probability!).toBeCloseTo(1, 4);
    expect(two.interval!.low).toBeCloseTo(-one.interval!.high, 3);
    expect(one.a).not.toHaveProperty('distribution');
  });

  it('of a picture with itself is a tie', async () => {
    const compared = await scorer.compare(files[0]!, files[0]!);
    expect(compared.better).toBe('tie');
    expect(Math.abs(compared.difference!)).toBeLessThan(1e-9);
    expect(compared.probability).toBeCloseTo(0.5, 9);
  });

  it('a greedy scorer compares by expected scores, unless it is asked not to', async () => {
    const greedy = await createScorer({ model: scorer.model });
    expect((await greedy.compare(files[0]!, files[1]!)).a.mode).toBe('expected');
    const asked = await greedy.compare(files[0]!, files[1]!, { mode: 'greedy' });
    expect(asked).toMatchObject({ a: { mode: 'greedy' }, probability: null });
  });

  it('sampled: a is what score gives, b is drawn by other numbers', async () => {
    const asked = { mode: 'sampled', samples: 4, seed: 3 } as const;
    const alone = await scorer.score(files[0]!, asked);
    const next = await scorer.score(files[0]!, { ...asked, firstIndex: 1 });
    const { a, b } = await scorer.compare(files[0]!, files[0]!, asked);
    expect(steady(a)).toEqual(steady(alone));
    expect(steady(b)).toEqual(steady(next));
    expect(b.samples).not.toEqual(a.samples);
  });
});

describe('an error about one of several pictures says which', () => {
  it('of a comparison', async () => {
    const bytes = await readFile(broken);
    for (const mode of ['expected', 'sampled'] as const) {
      await expect(scorer.compare(files[0]!, bytes, { mode })).rejects.toMatchObject({
        code: 'INPUT',
        message: expect.stringMatching(/^picture b: image is broken/),
        hint: expect.stringContaining('damaged'),
      });
    }
  });

  it('of a list, by its place', async () => {
    const empty = Buffer.alloc(0);
    await expect(scorer.scoreBatch([files[0]!, empty])).rejects.toThrow(/^picture 2 of 2: .*empty/);
    await expect(scorer.score(empty)).rejects.toThrow(/^image is empty/);
  });
});

describe('pictures of unusual shape', () => {
  const drawn = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#789' } })
      .png()
      .toBuffer();

  it('1x1 has a score; 1x20000 is an InputError with its size', async () => {
    expect((await scorer.score(await drawn(1, 1))).status).toBe('ok');
    await expect(scorer.score(await drawn(1, 20_000))).rejects.toMatchObject({
      code: 'INPUT',
      message: 'the image is 1x20000, an aspect ratio above 200',
    });
  });

  it('limits of a scorer hold for all its calls', async () => {
    const strict = await createScorer({ model: scorer.model, input: { maxPixels: 100 } });
    const large = await drawn(11, 10);
    await expect(strict.score(large)).rejects.toThrow('more than the 100 pixels allowed');
    await expect(strict.open(large)).rejects.toThrow('more than the 100 pixels allowed');
    await expect(strict.compare(large, large)).rejects.toThrow('more than the 100 pixels allowed');
    expect(strict.inputRules).toMatchObject({ maxPixels: 100, allowHttp: false });
  });
});

it('calls side by side do not disturb each other', async () => {
  const alone = [];
  for (const file of files) alone.push(steady(await scorer.score(file)));
  const together = await Promise.all(
    files.map(async (file, i) => {
      if (i % 2 === 0) return scorer.score(file);
      const last = (await all(scorer.scoreStream(file))).at(-1)!;
      if (last.type !== 'score') throw new Error('no score');
      return last.score;
    }),
  );
  expect(together.map(steady)).toEqual(alone);
});

it('device and engine.provider that contradict each other are a ConfigError', async () => {
  const both = { device: 'cpu', engine: { provider: 'cuda' } } as const;
  await expect(createScorer({ model: scorer.model, ...both })).rejects.toMatchObject({
    code: 'CONFIG',
    message: 'device is cpu, engine.provider is cuda: give one of them',
  });
});

it('without a model, and none of a demo in this folder, a ConfigError says how to get one', async () => {
  const before = process.cwd();
  process.chdir(fixture.folder);
  try {
    await expect(createScorer()).rejects.toMatchObject({
      code: 'CONFIG',
      hint: expect.stringContaining('q-ponder demo'),
    });
    await cp(model, join('.q-ponder', 'demo', 'q-ponder', 'model'), { recursive: true });
    const found = await createScorer();
    expect(found.provenance.modelSha256).toBe(scorer.provenance.modelSha256);
    found.close();
  } finally {
    process.chdir(before);
  }
});
