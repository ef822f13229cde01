import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { imageFiles, pathsIn } from '../../../src/cli/stages/image-files.ts';

let folder: string;
const at = (...names: string[]): string => join(folder, ...names);
const filesOf = async (...inputs: string[]) =>
  (await imageFiles(inputs, () => undefined)).map(({ file }) => file);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-files-'));
  await mkdir(at('tree', 'b', 'c'), { recursive: true });
  await mkdir(at('tree', '.git'));
  for (const name of ['z.png', 'A.JPG', 'notes.txt', '.hidden.png', 'b/y.webp', 'b/c/x.avif', '.git/w.png']) {
    await writeFile(at('tree', name), '');
  }
  await symlink(at('tree'), at('tree', 'b', 'back'));
  await symlink(at('tree', 'z.png'), at('tree', 'b', 'link.png'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a folder gives its pictures, then those of the folders in it; hidden ones and loops stay out', async () => {
  expect(await filesOf(at('tree'))).toEqual(
    ['A.JPG', 'z.png', 'b/link.png', 'b/y.webp', 'b/c/x.avif'].map((name) => at('tree', name)),
  );
});

it('paths of a list stand where its - stands', async () => {
  const list = async () => `${at('tree', 'z.png')}\n${at('tree', 'b', 'c')}\n`;
  const files = await imageFiles([at('tree', 'A.JPG'), '-', at('tree', 'notes.txt')], () => undefined, list);
  expect(files.map(({ file }) => file)).toEqual(
    ['A.JPG', 'z.png', 'b/c/x.avif', 'notes.txt'].map((name) => at('tree', name)),
  );
});

it.each([
  ['lines', 'a b.png\nc.png\n', ['a b.png', 'c.png']],
  ['lines of another system', 'a.png\r\nb.png', ['a.png', 'b.png']],
  ['zero characters, lines being part of a name', 'a\nb.png\0c.png\0', ['a\nb.png', 'c.png']],
  ['nothing', '\n\n', []],
])('paths by %s', (_what, text, paths) => {
  expect(pathsIn(text)).toEqual(paths);
});
