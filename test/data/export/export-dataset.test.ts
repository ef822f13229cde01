import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, InputError, writeJsonl } from '../../../src/core/index.ts';
import { exportConfigSchema, exportDataset } from '../../../src/data/export/index.ts';
import { importManifest } from '../../../src/data/import-manifest.ts';
import { importManifestConfigSchema } from '../../../src/data/import-manifest-config.ts';
import { loadDataset } from '../../../src/data/load.ts';
import type { ImageRecord } from '../../../src/data/records.ts';

let folder: string;
const record = (id: string, more: Partial<ImageRecord>): ImageRecord => ({
  ...{ id, image: `../images/${id}`, dataset: 'mine', split: 'train', mos: 4.2, mosStd: 0.5, raters: null },
  ...{ distortions: [], content: null, group: id, source: 'imported', generator: null, licence: 'CC0' },
  ...more,
});
/** DMOS 20 of 0 to 100: lower is better, so it is 4.2. */
const RECORDS = [
  record('a.png', { mosSource: { value: 20, range: [0, 100], direction: 'lower' } }),
  record('b.png', { mos: 1.8, mosStd: null, split: 'test', distortion: 'blur', level: 2 }),
  record('c.png', { mos: null, mosStd: null }),
];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'export-'));
  await writeJsonl(join(folder, 'set', 'records.jsonl'), RECORDS);
  return () => rm(folder, { recursive: true, force: true });
});

async function run(format: string, settings: object = {}) {
  const output = join(folder, 'out');
  const config = exportConfigSchema.parse({ dataset: join(folder, 'set'), format, output, ...settings });
  return { output, summary: await exportDataset(config) };
}

const text = (name: string): Promise<string> => readFile(join(folder, 'out', name), 'utf8');
const lines = async (name: string): Promise<unknown[]> =>
  (await text(name))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
const question = 'Reason about the image quality, then score it.';
const image = (): string => join(folder, 'images', 'a.png');
const ANSWER = '<think>Sharp.</think><answer>4.20</answer>';

async function answers(rows: object[]): Promise<{ answers: string }> {
  await writeJsonl(join(folder, 'accepted.jsonl'), rows);
  return { answers: join(folder, 'accepted.jsonl') };
}

describe('exportDataset', () => {
  it('writes rows of ms-swift that GRPO can score', async () => {
    const { summary } = await run('ms-swift');
    expect(summary).toMatchObject({ counts: { train: 1, test: 1 }, unjudged: 1 });
    expect(await lines('train.jsonl')).toEqual([
      {
        id: 'a.png',
        messages: [{ role: 'user', content: `<image>${question}` }],
        images: [image()],
        solution: '4.2',
      },
    ]);
  });

  it('writes rows of ms-swift to learn from, one for each accepted answer', async () => {
    const rows = [
      { id: 'a.png', response: ANSWER, accepted: true },
      { id: 'a.png', response: 'another' },
      { id: 'a.png', response: 'refused', accepted: false },
    ];
    const { summary } = await run('ms-swift', await answers(rows));
    expect(summary.unanswered).toBe(1);
    const written = (await lines('train.jsonl')) as { messages: object[] }[];
    expect(written.map(({ messages }) => messages[1])).toEqual([
      { role: 'assistant', content: ANSWER },
      { role: 'assistant', content: 'another' },
    ]);
  });

  it('writes LLaMA-Factory rows and the file that declares them', async () => {
    await run('llama-factory', await answers([{ id: 'a.png', response: ANSWER }]));
    expect(JSON.parse(await text('train.json'))).toEqual([
      {
        messages: [
          { role: 'user', content: `<image>${question}` },
          { role: 'assistant', content: ANSWER },
        ],
        images: [image()],
      },
    ]);
    expect(JSON.parse(await text('dataset_info.json'))).toMatchObject({
      q_ponder_train: { file_name: 'train.json', formatting: 'sharegpt', columns: { images: 'images' } },
    });
  });

  it('writes TRL rows with a completion where there is an answer', async () => {
    await run('trl', await answers([{ id: 'a.png', response: ANSWER }]));
    expect(await lines('train.jsonl')).toMatchObject([
      {
        prompt: [{ role: 'user', content: [{ type: 'image' }, { type: 'text', text: question }] }],
        completion: [{ role: 'assistant', content: [{ type: 'text', text: ANSWER }] }],
        images: [image()],
      },
    ]);
  });

  it('calls a low DMOS good in Q-Align rows', async () => {
    await run('q-align');
    expect(JSON.parse(await text('train.json'))).toMatchObject([
      {
        id: 'a.png->4.2',
        gt_score: 4.2,
        conversations: [{}, { value: 'The quality of the image is excellent.' }],
      },
    ]);
  });

  it('writes source and normalized scores for Q-Insight', async () => {
    await run('q-insight');
    expect(JSON.parse(await text('train.json'))).toMatchObject([
      { gt_score: 20, gt_score_norm: 4.2, std_norm: 0.5 },
    ]);
  });

  it('writes Parquet that a reader gets the same values from', async () => {
    await run('parquet');
    const bytes = await readFile(join(folder, 'out', 'test.parquet'));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    expect(await parquetReadObjects({ file })).toMatchObject([
      { id: 'b.png', mos: 1.8, mos_std: null, distortion: 'blur', level: 2, response: null, licence: 'CC0' },
    ]);
  });

  it.each([
    ['ms-swift', 'train.jsonl', { form: 'solution' }],
    ['visualquality-r1', 'train.jsonl', {}],
    ['q-insight', 'train.json', { form: 'score' }],
    ['q-align', 'train.json', { form: 'gt-score', range: [1, 5], direction: 'higher' }],
  ])('gives rows of %s that come back with the same score', async (format, name, settings) => {
    await run(format);
    const output = join(folder, 'back');
    const labels = join(folder, 'out', name);
    await importManifest(
      importManifestConfigSchema.parse({ manifest: format, labels, output, labelsOnly: true, ...settings }),
    );
    const { records } = await loadDataset(output);
    expect(records.map(({ id, mos }) => [id, mos])).toEqual([[image(), expect.closeTo(4.2, 9)]]);
  });

  it('gives LLaMA-Factory rows that come back with the score of the answer', async () => {
    await run('llama-factory', await answers([{ id: 'a.png', response: ANSWER }]));
    const settings = {
      manifest: 'llama-factory',
      form: 'messages',
      labels: join(folder, 'out', 'train.json'),
    };
    const output = join(folder, 'back');
    await importManifest(importManifestConfigSchema.parse({ ...settings, output, labelsOnly: true }));
    expect((await loadDataset(output)).records[0]?.mos).toBeCloseTo(4.2, 9);
  });

  it('writes paths relative to the output', async () => {
    await run('q-insight', { paths: 'relative' });
    expect(JSON.parse(await text('train.json'))).toMatchObject([{ image: '../images/a.png' }]);
  });

  it('replaces an older export, but nothing else', async () => {
    await run('trl');
    await run('ms-swift');
    await writeFile(join(folder, 'out', 'notes.md'), '');
    await expect(run('trl')).rejects.toThrow('it holds notes.md, which no export wrote');
  });

  it('refuses answers about images that the data set lacks', async () => {
    await expect(run('trl', await answers([{ id: 'z.png', response: 'x' }]))).rejects.toBeInstanceOf(
      InputError,
    );
  });

  it('refuses formats and answers that do not fit each other', async () => {
    await expect(run('llama-factory')).rejects.toBeInstanceOf(ConfigError);
    await expect(run('q-align', await answers([{ id: 'a.png', response: 'x' }]))).rejects.toBeInstanceOf(
      ConfigError,
    );
  });

  it('refuses a split that has nothing to export', async () => {
    await expect(run('trl', { splits: ['validation'] })).rejects.toBeInstanceOf(InputError);
  });
});
