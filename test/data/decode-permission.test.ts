import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { decodeImage } from '../../src/data/decode.ts';

// The administrator may read every file, and tests may run as one: open is made to answer as to anybody else.
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const open: typeof real.open = async (path, ...rest) => {
    if (!String(path).endsWith('secret.png')) return real.open(path, ...rest);
    throw Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: 'EACCES' });
  };
  return { ...real, open };
});

it('a file that may not be read is a matter of permission, not of the picture', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'permission-'));
  try {
    const path = join(folder, 'secret.png');
    await writeFile(path, 'x');
    await expect(decodeImage(path)).rejects.toMatchObject({
      code: 'STORAGE',
      message: `reading image ${path} failed (EACCES)`,
      hint: expect.stringContaining('permission is missing'),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
