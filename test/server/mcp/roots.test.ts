import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRoots, type Roots, readWithin } from '../../../src/server/mcp/roots.ts';

let folder: string;
let roots: Roots;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'q-ponder-roots-')));
  for (const name of ['root/deep', 'root-beside', 'second']) await mkdir(at(name), { recursive: true });
  for (const name of ['root/a', 'root/deep/b', 'root/..c', 'root-beside/secret', 'second/d']) {
    await writeFile(at(name), name);
  }
  await symlink(at('root-beside/secret'), at('root/link-out'));
  await symlink(at('root-beside'), at('root/folder-out'));
  await symlink(at('root/a'), at('root/link-in'));
  await symlink(at('root'), at('root-link'));
  roots = await openRoots([at('root-link'), at('second')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = async (path: string): Promise<string> => (await readWithin(roots, path, 1000)).toString();

describe('inside the roots', () => {
  it.each([
    ['a relative path, from the first root', () => 'a', 'root/a'],
    ['a path by way of a folder above that ends inside', () => 'deep/../deep/b', 'root/deep/b'],
    ['a name that begins with two dots', () => '..c', 'root/..c'],
    ['an absolute path', () => at('second/d'), 'second/d'],
    ['a file URL', () => pathToFileURL(at('root/a')).href, 'root/a'],
    ['a link to another file inside', () => 'link-in', 'root/a'],
    ['the root by the link that names it', () => at('root-link/a'), 'root/a'],
  ])('%s', async (_what, path, content) => {
    expect(await read(path())).toBe(content);
  });
});

describe('outside the roots is one and the same refusal', () => {
  it.each([
    ['up', () => '../root-beside/secret'],
    ['up to nothing', () => '../root-beside/nothing'],
    ['absolute', () => at('root-beside/secret')],
    ['absolute to nothing', () => at('nothing')],
    ['a folder whose name begins like a root', () => `${at('root')}-beside/secret`],
    ['a link to a file', () => 'link-out'],
    ['a link to a folder on the way', () => 'folder-out/secret'],
    ['a folder above', () => '..'],
    ['a file URL', () => pathToFileURL(at('root-beside/secret')).href],
  ])('%s', async (_what, path) => {
    await expect(read(path())).rejects.toMatchObject({
      code: 'INPUT',
      message: `"${path()}" is outside the folders that may be read`,
    });
  });
});

it.each([
  ['a missing file', 'nothing', 'STORAGE', 'reading image nothing failed (ENOENT)'],
  ['a folder', 'deep', 'INPUT', 'deep is no regular file'],
  ['no path', '', 'INPUT', 'the path is empty'],
  ['a zero character', 'a\0b', 'INPUT', 'the path holds a zero character'],
])('%s is an error with its code', async (_what, path, code, message) => {
  await expect(read(path)).rejects.toMatchObject({ code, message });
});

it('a file beyond the limit is not read', async () => {
  await expect(readWithin(roots, 'a', 5)).rejects.toThrow('a has more than the 5 bytes allowed');
  expect((await readWithin(roots, 'a', 6)).toString()).toBe('root/a');
});

it.skipIf(process.platform === 'win32')('a pipe is refused at once, instead of waited for', async () => {
  execFileSync('mkfifo', [at('root/pipe')]);
  await expect(read('pipe')).rejects.toThrow('pipe is no regular file');
});

it.each([
  ['nothing', async () => [], 'no folder may be read'],
  ['a file', async () => [at('root/a')], 'is no folder'],
  ['what is not there', async () => [at('nothing')], 'cannot be opened'],
])('%s as a root is a ConfigError', async (_what, folders, message) => {
  await expect(openRoots(await folders())).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining(message),
  });
});
