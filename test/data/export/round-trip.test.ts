import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeJsonl } from '../../../src/core/index.ts';
import { exportConfigSchema, exportDataset } from '../../../src/data/export/index.ts';
import { importManifest } from '../../../src/data/import-manifest.ts';
import { importManifestConfigSchema } from '../../../src/data/import-manifest-config.ts';
import { loadDataset } from '../../../src/data/load.ts';
import type { ImageRecord, Split } from '../../../src/data/records.ts';

let folder: string;
/** Seven images, so that drawing splits anew would not give these by chance. */
const SPLITS: readonly Split[] = ['train', 'test', 'validation', 'test', 'train', 'train', 'validation'];
const RECORDS = SPLITS.map(
  (split, i): ImageRecord => ({
    ...{ id: `p ${i}.png`, image: `../images/p ${i}.png`, dataset: 'mine', split, mos: 1 + 0.57 * i },
    ...{ mosStd: 0.5, raters: null, distortions: [], content: null, group: `p ${i}.png` },
    ...{ source: 'imported', generator: null },
  }),
);
const answer = ({ id, mos }: ImageRecord, words: string) => ({
  id,
  response: `<think>${words}</think><answer>${mos!.toFixed(2)}</answer>`,
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'round-trip-'));
  await writeJsonl(join(folder, 'set', 'records.jsonl'), RECORDS);
  await writeJsonl(
    join(folder, 'accepted.jsonl'),
    RECORDS.flatMap((record) => [answer(record, 'Sharp.'), answer(record, 'It is sharp.')]),
  );
  await mkdir(join(folder, 'images'));
  for (const { id } of RECORDS) await writeFile(join(folder, 'images', id), id);
  return () => rm(folder, { recursive: true, force: true });
});

async function exported(format: string, settings: object): Promise<string> {
  const output = join(folder, 'out');
  const dataset = join(folder, 'set');
  await exportDataset(exportConfigSchema.parse({ dataset, format, output, ...settings }));
  return output;
}

async function imported(manifest: string, labels: string, settings: object = {}) {
  const output = join(folder, 'back');
  const config = { manifest, labels, imagesFolder: join(folder, 'images'), output, ...settings };
  const summary = await importManifest(importManifestConfigSchema.parse(config));
  return { summary, ...(await loadDataset(output)) };
}

const known = (records: readonly ImageRecord[]): string[] =>
  records.map(({ image, mos, split }) => `${image.split('/').at(-1)} ${mos!.toFixed(4)} ${split}`).sort();

describe('what is exported can be imported again', () => {
  it.each([
    ['ms-swift', false, {}],
    ['ms-swift', true, {}],
    ['llama-factory', true, {}],
    ['trl', false, {}],
    ['trl', true, {}],
    ['parquet', false, {}],
    ['parquet', true, {}],
    ['q-align', false, { range: [1, 5], direction: 'higher' }],
    ['q-insight', false, {}],
    ['visualquality-r1', false, {}],
  ])('%s, answers %s: images, scores and splits', async (format, withAnswers, settings) => {
    const answers = join(folder, 'accepted.jsonl');
    const out = await exported(format, withAnswers ? { answers } : {});
    const { records } = await imported(format, out, settings);
    expect(known(records)).toEqual(known(RECORDS));
  });

  it('one file of several: its splits are drawn anew, and it is said', async () => {
    const out = await exported('trl', {});
    const { summary } = await imported('trl', join(out, 'train.jsonl'), { testShare: 0.34 });
    expect(summary.counts).toMatchObject({ train: 2, test: 1 });
    expect(summary.notes).toContain('train.jsonl is one file: splits are drawn anew');
  });

  it('answers that disagree about the score of one image are problems', async () => {
    const [first] = RECORDS;
    const rows = [
      answer(first!, 'Sharp.'),
      { id: first!.id, response: '<think>x</think><answer>4.00</answer>' },
    ];
    await writeJsonl(join(folder, 'two.jsonl'), rows);
    const out = await exported('llama-factory', { answers: join(folder, 'two.jsonl') });
    await expect(imported('llama-factory', out)).rejects.toThrow('listed twice: 1');
  });
});
