import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImageRecord } from '../../../src/data/index.ts';
import { loadDescriptions, measureDescriptions, withTruth } from '../../../src/evaluate/index.ts';
import { prediction } from '../prediction-factory.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'descriptions-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const lines = (...rows: unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('loadDescriptions', () => {
  it('reads predictions: the reasoning is the description', async () => {
    const row = prediction('a', 2.5, 3, {
      text: '<think>soft.</think><answer>3.00</answer>',
      reasoning: 'soft.',
      distortionsTrue: [{ type: 'jpeg', level: 2 }],
    });
    const broken = prediction('b', 2.5, null, { text: 'no answer' });
    expect(await loadDescriptions(await written('p.jsonl', lines(row, broken)))).toEqual([
      {
        id: 'a',
        text: 'soft.',
        score: 3,
        mos: 2.5,
        image: 'a.png',
        distortions: [{ type: 'jpeg', level: 2 }],
      },
      { id: 'b', text: undefined, score: null, mos: 2.5, image: 'b.png', distortions: undefined },
    ]);
  });

  it("reads anybody's rows, by the output contract where they keep it", async () => {
    const path = await written(
      'x.jsonl',
      lines(
        { id: 1, text: ' Free words. ' },
        { id: 'two', text: '<think>soft.</think><answer>3.00</answer>', author: 'x' },
        { id: 'three', text: '<think>never closed', grade: 'good' },
        { id: 'four', text: 'w', score: 2, distortions: [], mos: 4 },
      ),
    );
    expect(await loadDescriptions(path)).toMatchObject([
      { id: '1', text: 'Free words.', score: null },
      { id: 'two', text: 'soft.', score: 3 },
      { id: 'three', text: undefined, score: null, grade: 'good' },
      { id: 'four', text: 'w', score: 2, distortions: [], mos: 4 },
    ]);
  });

  it('reads conversations of both forms, whatever the file is called', async () => {
    const share = {
      id: '0',
      image: 'a.jpg',
      conversations: [
        { role: 'user', content: 'Describe.' },
        { role: 'assistant', content: 'It is soft.' },
        { role: 'user', content: 'One word.' },
        { role: 'assistant', content: 'Fair.' },
      ],
    };
    const llava = {
      id: 'b',
      conversations: [
        { from: 'human', value: 'Describe.' },
        { from: 'gpt', value: 'It is sharp.' },
      ],
    };
    const expected = [
      { id: '0', text: 'It is soft.', score: null, grade: 'fair', image: 'a.jpg' },
      { id: 'b', text: 'It is sharp.', score: null, grade: undefined },
    ];
    expect(await loadDescriptions(await written('array.jsonl', [share, llava]))).toMatchObject(expected);
    expect(await loadDescriptions(await written('array.json', [share, llava]))).toMatchObject(expected);
    expect(await loadDescriptions(await written('lines.jsonl', lines(share, llava)))).toMatchObject(expected);
  });

  it.each<[string, string, unknown, RegExp]>([
    [
      'an id that comes twice',
      'twice.jsonl',
      lines({ id: 'a', text: 'x' }, { id: 'a', text: 'y' }),
      /1 id\(s\) more than once: a/,
    ],
    ['a row without text', 'bad.jsonl', lines({ id: 'a', text: 'x' }, { id: 'b' }), /bad\.jsonl:2 has/],
    [
      'a row of an array without text',
      'bad.json',
      [{ id: 'a', text: 'x' }, { id: 'b' }],
      /row 1 is no description/,
    ],
    [
      'a distortion nobody knows',
      'type.jsonl',
      lines({ id: 'a', text: 'x', distortions: [{ type: 'glitter' }] }),
      /type\.jsonl:1/,
    ],
    ['a score outside the scale', 'score.jsonl', lines({ id: 'a', text: 'x', score: 80 }), /score\.jsonl:1/],
    ['cut JSON', 'cut.json', '[{"id": "a", "te', /cut\.json is not JSON/],
    ['nothing', 'empty.jsonl', '', /holds no descriptions/],
  ])('refuses %s', async (_what, name, content, message) => {
    const error = await loadDescriptions(await written(name, content)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'INPUT', message: expect.stringMatching(message) });
  });

  it('says that a file is not there', async () => {
    await expect(loadDescriptions(join(folder, 'none.jsonl'))).rejects.toMatchObject({ code: 'STORAGE' });
  });
});

describe('withTruth', () => {
  const record = (id: string, over: Partial<ImageRecord>): ImageRecord => ({
    id,
    image: `images/${id}.png`,
    dataset: 'd',
    split: 'test',
    mos: 3,
    mosStd: null,
    raters: null,
    distortions: [],
    content: null,
    group: id,
    source: 'synthetic',
    generator: null,
    ...over,
  });
  const said = [{ id: 'a', text: 'x', score: null }];

  it('takes distortions, MOS and picture from the data set', () => {
    const distortions = [{ type: 'jpeg', level: 3, strength: 1 }] as const;
    expect(withTruth(said, [record('a', { distortions: [...distortions] })])).toMatchObject([
      { id: 'a', mos: 3, image: 'images/a.png', distortions },
    ]);
  });

  it('knows that no distortion means pristine in generated sets and unknown in imported ones', () => {
    expect(withTruth(said, [record('a', {})])[0]?.distortions).toEqual([]);
    expect(withTruth(said, [record('a', { source: 'imported' })])[0]?.distortions).toBeUndefined();
  });

  it('refuses ids that the data set lacks', () => {
    expect(() => withTruth(said, [record('b', {})])).toThrow(/lacks 1 of 1 ids: a/);
  });
});

const REAL = new URL('../../../../shared/data/teacher_texts/m3_agiqa/agiqa3k_train.jsonl', import.meta.url)
  .pathname;

if (existsSync(REAL)) {
  it('reads a published file of 2,385 descriptions with a grade word each', async () => {
    const descriptions = await loadDescriptions(REAL);
    const grades = descriptions.map(({ grade }) => grade);
    const counts = ['bad', 'poor', 'fair', 'good', 'excellent'].map(
      (word) => grades.filter((grade) => grade === word).length,
    );
    // Counted with another program.
    expect(counts).toEqual([283, 377, 818, 867, 40]);
    expect(measureDescriptions(descriptions, { resamples: 0 })).toMatchObject({
      n: 2385,
      withoutText: 0,
      withTruth: 0,
    });
  });
} else {
  process.stderr.write(`skipped: the published descriptions are not at ${REAL}\n`);
}
