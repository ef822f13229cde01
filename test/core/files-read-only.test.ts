import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeFolder, writeFileAtomic, writeFolderAtomic } from '../../src/core/index.ts';

// Mounting a read-only file system needs rights that a test has not: mkdir is made to answer as one does.
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const mkdir = async (path: string) => {
    if (!path.includes('read-only-')) return real.mkdir(path);
    throw Object.assign(new Error(`EROFS: read-only file system, mkdir '${path}'`), { code: 'EROFS' });
  };
  return { ...real, mkdir };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-only-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it.each([
  ['makeFolder', (path: string) => makeFolder(path)],
  ['writeFileAtomic', (path: string) => writeFileAtomic(join(path, 'file'), '')],
  ['writeFolderAtomic', (path: string) => writeFolderAtomic(path, () => Promise.resolve())],
])('%s says that the file system is read-only, however deep the path', async (_name, write) => {
  await expect(write(join(folder, 'a/b/c'))).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('(EROFS)'),
    hint: 'the file system is read-only: choose another folder',
  });
});
