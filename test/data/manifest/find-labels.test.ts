import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { chooseForm } from '../../../src/data/manifest/files.ts';
import { loadManifest } from '../../../src/data/manifest/load.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'labels-'));
  return () => rm(folder, { recursive: true, force: true });
});

const put = async (name: string, content: string): Promise<void> => {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), content);
};

/** The error of looking for KonIQ-10k's labels in the folder. */
async function problem(labels = folder): Promise<{ message: string; hint: string }> {
  return chooseForm(await loadManifest('koniq-10k'), { labels }).then(
    () => ({ message: '(no error)', hint: '' }),
    (error: { message: string; hint: string }) => error,
  );
}

const HEADER = 'image_name,c1,c2,c3,c4,c5,c_total,MOS,SD,set\n';
const ROW = '1.jpg,0,0,0,0,1,100,80,0.5,training\n';

describe('a folder without a label file that the manifest knows', () => {
  it('says what is there and what would be read', async () => {
    await put('scores.csv', 'photo,quality\n1.jpg,3\n');
    await put('broken.xlsx', 'x');
    await put('readme.md', 'x');
    const { message, hint } = await problem();
    expect(message.split('\n').slice(0, 7)).toEqual([
      `no label file of koniq-10k in ${folder}`,
      `  in ${folder} there are`,
      '    broken.xlsx: cannot be read as a table',
      '    scores.csv: first row photo, quality',
      '  koniq-10k is read from',
      expect.stringMatching(
        /form sets: koniq10k_distributions_sets\.csv with image_name \(image\), MOS \(mos\), SD \(std\)/,
      ),
      expect.stringContaining('form scores: koniq10k_scores_and_distributions.csv'),
    ]);
    expect(message).toContain('koniq10k_label.txt without a header (image, mos)');
    expect(hint).toContain('--labels <file>');
    expect(hint).toContain('q-ponder data import <file> --image-column');
  });

  it('names the file of a known name in a subfolder', async () => {
    await put('metadata/koniq10k_distributions_sets.csv', HEADER + ROW);
    const path = join(folder, 'metadata', 'koniq10k_distributions_sets.csv');
    expect((await problem()).hint).toBe(
      `${join('metadata', 'koniq10k_distributions_sets.csv')} has the name of form sets: give --labels ${path}`,
    );
  });

  it('names the file of another name with the columns of a form, in a folder and by itself', async () => {
    await put('mine.csv', HEADER + ROW);
    const path = join(folder, 'mine.csv');
    expect((await problem()).hint).toBe(
      `mine.csv has the columns of form sets: give --labels ${path} --set form=sets`,
    );
    expect((await problem(path)).hint).toMatch(/^it has the columns of form sets: --set form=sets/);
  });

  it('says so where there are no tables', async () => {
    expect((await problem()).message).toContain(`${folder} has no tables at all`);
  });
});
