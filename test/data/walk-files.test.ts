import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ImageIndex } from '../../src/data/manifest/image-index.ts';
import { walkFiles } from '../../src/data/walk-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'walk-'));
  await mkdir(join(folder, 'set', 'jp2k'), { recursive: true });
  await mkdir(join(folder, 'disk2'));
  await writeFile(join(folder, 'set', 'jp2k', 'a.png'), 'a');
  await writeFile(join(folder, 'disk2', 'b.png'), 'b');
  return () => rm(folder, { recursive: true, force: true });
});

describe('walkFiles', () => {
  it('follows links, each folder once on its way down, and names links that lead nowhere', async () => {
    await symlink(join(folder, 'disk2'), join(folder, 'set', 'wn'));
    await symlink(join(folder, 'set'), join(folder, 'set', 'jp2k', 'again'));
    await symlink(join(folder, 'gone'), join(folder, 'set', 'c.png'));
    expect(await walkFiles(join(folder, 'set'))).toEqual(['c.png', 'jp2k/a.png', 'wn/b.png']);
  });

  it('names the folder that is not there', async () => {
    await expect(walkFiles(join(folder, 'none'))).rejects.toMatchObject({ code: 'STORAGE' });
  });
});

it('finds an image of a linked folder by the name in a label file, in any Unicode form', async () => {
  await writeFile(join(folder, 'disk2', 'u\u0308.png'), 'u');
  await symlink(join(folder, 'disk2'), join(folder, 'set', 'wn'));
  const index = await ImageIndex.open(join(folder, 'set'));
  expect([index.find('b.png'), index.find('wn/\u00fc.png')]).toEqual([['wn/b.png'], ['wn/u\u0308.png']]);
});
