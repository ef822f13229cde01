import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RemoteError } from '../../src/core/index.ts';
import type { ImageRecord } from '../../src/data/index.ts';
import {
  type Answerer,
  type EvaluationIdentity,
  evaluateSplit,
  openRows,
  predictionOf,
  splitHash,
} from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';

let root: string;
let folder: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rows-'));
});
beforeEach(() => {
  folder = join(root, String(count++));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const identity: EvaluationIdentity = {
  model: { kind: 'checkpoint', sha256: 'aa' },
  prompt: { id: 'student/quality', version: 1, hash: 'bb' },
  reading: { mode: 'greedy', maxNewTokens: 96 },
  data: { dataset: '/data', split: 'test', n: 3, splitSha256: 'cc', dataSha256: 'dd' },
  codeVersion: '1.0.0',
};
const rows = [prediction('a', 2, 3), prediction('b', 3, null), prediction('c', 4, 4)];

async function written(some = rows): Promise<string> {
  const open = await openRows(folder, identity);
  await open.append(some);
  await open.close();
  return join(folder, 'predictions.jsonl');
}

it('the hash of a split is that of its sorted ids, one a line', () => {
  // printf 'a\nb\n' | sha256sum
  const expected = '911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2';
  expect(splitHash(['a', 'b'])).toBe(expected);
  expect(splitHash(['b', 'a'])).toBe(expected);
  expect(splitHash(['a', 'b'])).not.toBe(splitHash(['ab']));
});

describe('rows of an evaluation', () => {
  it('are kept, the ones without a score too', async () => {
    await written();
    const again = await openRows(folder, identity);
    expect([...again.kept.values()]).toEqual(rows);
    await again.close();
  });

  it.each([1, 20, 60])(
    'a row cut %i bytes before its end is removed, and what follows is whole',
    async (cut) => {
      const path = await written();
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.slice(0, -cut));
      const again = await openRows(folder, identity);
      expect([...again.kept.keys()]).toEqual(['a', 'b']);
      await again.append([rows[2]!]);
      await again.close();
      expect(await readFile(path, 'utf8')).toBe(text);
    },
  );

  it.each<[string, EvaluationIdentity]>([
    ['model.sha256', { ...identity, model: { kind: 'checkpoint', sha256: 'xx' } }],
    ['prompt.hash', { ...identity, prompt: { ...identity.prompt, hash: 'xx' } }],
    ['reading.maxNewTokens', { ...identity, reading: { mode: 'greedy', maxNewTokens: 5 } }],
    ['reading.mode', { ...identity, reading: { mode: 'expected', maxNewTokens: 96 } }],
    ['data.dataSha256', { ...identity, data: { ...identity.data, dataSha256: 'xx' } }],
    ['codeVersion', { ...identity, codeVersion: '2.0.0' }],
  ])('another %s is refused by name', async (key, wanted) => {
    const path = await written();
    const before = await readFile(path, 'utf8');
    await expect(openRows(folder, wanted)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(`${key}: its rows are of`),
    });
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  it('data that has moved is the same data', async () => {
    await written();
    const moved = { ...identity, data: { ...identity.data, dataset: '/elsewhere' } };
    const again = await openRows(folder, moved);
    expect(again.kept.size).toBe(3);
    await again.close();
  });

  it('predictions of unknown origin are neither continued nor overwritten', async () => {
    const path = await written();
    await rm(join(folder, 'evaluation.json'));
    await expect(openRows(folder, identity)).rejects.toThrow('what made it is unknown');
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(4);
  });

  it.each([
    ['a second answer about one image', JSON.stringify(rows[0]), ':4 answers image a a second time'],
    ['what is not JSON', '{"id":', ':4 is not JSON'],
    ['what is no prediction', '{"id":"d"}', ':4 is no row of predictions'],
  ])('%s is an InputError with its line', async (_what, line, message) => {
    const path = await written();
    await appendFile(path, `${line}\n`);
    await expect(openRows(folder, identity)).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining(message),
    });
  });
});

describe('a split in parts', () => {
  const records = ['a', 'b', 'c', 'd', 'e'].map(
    (id): ImageRecord => ({
      ...{ id, image: `${id}.png`, dataset: 'made-up', split: 'test', mos: 3, mosStd: null, raters: null },
      ...{ distortions: [], content: null, group: id, source: 'imported', generator: null },
    }),
  );
  /** Scores an image by its place in its part: what a batch that draws does. */
  function answerer(asked: string[][], stopAt = Number.POSITIVE_INFINITY): Answerer {
    return {
      identity,
      chunk: () => 2,
      wholeChunks: true,
      requireReading: () => undefined,
      answer: async (part, _folder, _reading, { firstIndex }) => {
        if (asked.length === stopAt) throw new Error('power cut');
        asked.push(part.map(({ id }) => id));
        return part.map((record, i) =>
          predictionOf(record, {
            ...{ status: 'ok', score: 1 + (firstIndex + i) / 10, level: 'bad', reasoning: null },
            ...{ levelStated: null, distortions: [], wellFormed: true, text: 'x', finishReason: 'stop' },
          }),
        );
      },
    };
  }
  const evaluate = (by: Answerer, to: string | null = folder) =>
    evaluateSplit({
      ...{ answerer: by, reading: identity.reading, records, dataset: '/data', identity, folder: to },
    });

  it('one part is asked at a time, and a stopped run goes on with the part it was in', async () => {
    const whole: string[][] = [];
    const straight = await evaluate(answerer(whole), join(folder, 'straight'));
    expect(whole).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    await expect(evaluate(answerer([], 1))).rejects.toThrow('power cut');
    // The row of c was written, that of d was not.
    const path = join(folder, 'predictions.jsonl');
    await appendFile(path, `${JSON.stringify(straight.predictions[2])}\n`);
    const rest: string[][] = [];
    const resumed = await evaluate(answerer(rest));
    expect(rest).toEqual([['c', 'd'], ['e']]);
    expect(resumed).toEqual({ ...straight, kept: 3 });
    const text = await readFile(join(folder, 'straight', 'predictions.jsonl'), 'utf8');
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('without a folder the rows are in memory alone', async () => {
    const { predictions, kept } = await evaluate(answerer([]), null);
    expect(kept).toBe(0);
    expect(predictions.map(({ score }) => score)).toEqual([1, 1.1, 1.2, 1.3, 1.4]);
  });

  it('images that could not be asked are counted, and asked alone the next time', async () => {
    const asked: string[][] = [];
    const failing = (refused: string[]): Answerer => ({
      ...answerer([]),
      wholeChunks: false,
      answer: async (part, dataset, reading, context) => {
        asked.push(part.map(({ id }) => id));
        const good = part.filter(({ id }) => !refused.includes(id));
        for (let i = good.length; i < part.length; i++) context.onFailure('timeout');
        return answerer([]).answer(good, dataset, reading, context);
      },
    });
    const first = await evaluate(failing(['b', 'd']));
    expect(first.failed).toEqual({ timeout: 2 });
    expect(first.predictions.map(({ id }) => id)).toEqual(['a', 'c', 'e']);
    asked.length = 0;
    const second = await evaluate(failing([]));
    expect(asked).toEqual([['b'], ['d']]);
    expect(second.predictions.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('a server that answers nothing is given up, with what it said', async () => {
    const asked: string[] = [];
    const dead: Answerer = {
      ...answerer([]),
      wholeChunks: false,
      chunk: () => 1,
      answer: async ([record], _, __, { onFailure }) => {
        asked.push(record!.id);
        onFailure('unreachable', new RemoteError('nothing listens at x', { reason: 'unreachable' }));
        return [];
      },
    };
    await expect(evaluate(dead)).rejects.toMatchObject({
      reason: 'unreachable',
      message: expect.stringContaining('5 image(s) are unanswered') as string,
    });
    await expect(evaluate(dead)).rejects.toThrow('nothing listens at x');
    expect(asked).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});
