import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeJsonl } from '../../src/core/index.ts';
import { type Inspection, inspectDataset } from '../../src/data/inspect.ts';
import type { ImageRecord } from '../../src/data/records.ts';

let folder: string;
let inspection: Inspection;
const record = (id: string, mos: number | null, group: string, split: ImageRecord['split']): ImageRecord => ({
  ...{
    id,
    image: id,
    dataset: 'mine',
    split,
    mos,
    mosStd: null,
    raters: null,
    distortions: [],
    content: null,
  },
  ...{ group, source: 'imported', generator: null, distortion: mos === 1 ? 'noise' : 'blur' },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspect-'));
  await writeJsonl(join(folder, 'records.jsonl'), [
    record('a', 1, 'x', 'train'),
    record('b', 3, 'x', 'train'),
    record('c', 5, 'y', 'train'),
    record('d', null, 'z', 'test'),
  ]);
  inspection = await inspectDataset(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('inspectDataset', () => {
  it('gives mean and standard deviation of 1, 3 and 5', () => {
    expect(inspection.splits.train).toMatchObject({ images: 3, groups: 2, mean: 3, std: Math.sqrt(8 / 3) });
  });

  it('puts 5 into the last of the 16 bins and 3 into the ninth', () => {
    const filled = inspection.splits.train!.histogram.flatMap((count, bin) => (count > 0 ? [bin] : []));
    expect(filled).toEqual([0, 8, 15]);
  });

  it('has no mean where nobody has judged the images', () => {
    expect(inspection.splits.test).toMatchObject({ unjudged: 1, mean: null, std: null });
  });

  it('leaves out splits without images', () => {
    expect(Object.keys(inspection.splits)).toEqual(['train', 'test']);
  });

  it('counts groups and distortions', () => {
    expect(inspection.groups).toEqual({ count: 3, largest: 2, sizeOfMost: 1 });
    expect(inspection.distortions).toEqual([
      ['blur', 3],
      ['noise', 1],
    ]);
  });

  it('has no published scale where no record gives one', () => {
    expect(inspection.source).toBeNull();
  });
});
