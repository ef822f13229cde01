import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageError, writeFileAtomic, writeFolderAtomic } from '../../src/core/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const core = new URL('../../src/core/index.ts', import.meta.url).href;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Arguments for Node to run a module text that may use `core`, `fs`, `folder` and `report`. */
const scriptArguments = (text: string): string[] => [
  '--import',
  'tsx',
  '--input-type=module',
  '--eval',
  `import * as core from ${JSON.stringify(core)};
   import * as fs from 'node:fs';
   const folder = ${JSON.stringify(folder)};
   const report = (error) => console.log(error.name + ' ' + error.message);
   ${text}`,
];

/**
 * Runs a script that may not write files over 64 KiB: the system then takes a part of a write and refuses
 * the rest, as on a full disk, and needs no rights to arrange.
 */
function runWithSmallFiles(text: string): string {
  const command = ['ulimit -f 64; exec "$0" "$@"', process.execPath, ...scriptArguments(text)];
  const child = spawnSync('bash', ['-c', ...command], { cwd: root, encoding: 'utf8' });
  expect(child.stderr).toBe('');
  return child.stdout.trim();
}

describe('writeFileAtomic', () => {
  it('creates parent folders and leaves nothing else behind', async () => {
    await writeFileAtomic(join(folder, 'a/b/c.txt'), 'text');
    await writeFileAtomic(join(folder, 'a/b/c.txt'), new Uint8Array([1, 2]));
    expect([...(await readFile(join(folder, 'a/b/c.txt')))]).toEqual([1, 2]);
    expect(await readdir(join(folder, 'a/b'))).toEqual(['c.txt']);
  });

  it('keeps the old file when the device takes only a part of the new one', async () => {
    await writeFile(join(folder, 'state.json'), 'old');
    const output = runWithSmallFiles(
      `await core.writeFileAtomic(folder + '/state.json', new Uint8Array(200_000)).catch(report);`,
    );
    expect(output).toBe(`StorageError writing ${folder}/state.json failed (EFBIG)`);
    expect(await readFile(join(folder, 'state.json'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['state.json']);
  });

  it('refuses to replace a folder, with a remedy', async () => {
    await mkdir(join(folder, 'taken'));
    await expect(writeFileAtomic(join(folder, 'taken'), 'text')).rejects.toMatchObject({
      name: 'StorageError',
      hint: expect.stringContaining('a file was expected'),
    });
    expect(await readdir(folder)).toEqual(['taken']);
  });

  it('shows readers the old content or the new, never a part, though the writer is killed', async () => {
    const path = join(folder, 'counter');
    const child = spawn(
      process.execPath,
      scriptArguments(`
        for (let n = 0; ; n++) await core.writeFileAtomic(folder + '/counter', String(n % 10).repeat(300_000));`),
      { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const ended = once(child, 'exit');
    const seen = new Set<string>();
    // Different contents seen while it writes, so that it is killed at work.
    while (seen.size < 5) {
      if (!existsSync(path)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      const text = await readFile(path, 'utf8');
      expect(text).toBe((text[0] as string).repeat(300_000));
      seen.add(text[0] as string);
    }
    child.kill('SIGKILL');
    await ended;
    const text = await readFile(path, 'utf8');
    expect(text).toBe((text[0] as string).repeat(300_000));
  });
});

describe('writeFolderAtomic', () => {
  const write = (text: string) => (target: string) => writeFile(join(target, 'file'), text);

  it('replaces an older folder whole', async () => {
    await writeFolderAtomic(join(folder, 'run/step-1'), async (target) => {
      await write('old')(target);
      await writeFile(join(target, 'only-in-old'), '');
    });
    await writeFolderAtomic(join(folder, 'run/step-1'), write('new'));
    expect(await readdir(join(folder, 'run/step-1'))).toEqual(['file']);
    expect(await readFile(join(folder, 'run/step-1/file'), 'utf8')).toBe('new');
    expect(await readdir(join(folder, 'run'))).toEqual(['step-1']);
  });

  it('leaves the old folder when fill throws, and passes its error on', async () => {
    await writeFolderAtomic(join(folder, 'step-1'), write('old'));
    const failing = writeFolderAtomic(join(folder, 'step-1'), async (target) => {
      await write('half')(target);
      throw new RangeError('the weights are not finite');
    });
    await expect(failing).rejects.toThrow(new RangeError('the weights are not finite'));
    expect(await readFile(join(folder, 'step-1/file'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['step-1']);
  });

  it('leaves no folder at all when the first fill throws', async () => {
    await expect(
      writeFolderAtomic(join(folder, 'new'), () => Promise.reject(new Error('x'))),
    ).rejects.toThrow('x');
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves the old folder when the device takes only a part of the new one', async () => {
    await writeFolderAtomic(join(folder, 'step-1'), write('old'));
    const output = runWithSmallFiles(`
      await core.writeFolderAtomic(folder + '/step-1', async (target) =>
        fs.writeFileSync(target + '/file', new Uint8Array(200_000))).catch(report);`);
    expect(output).toBe(`StorageError writing folder ${folder}/step-1 failed (EFBIG)`);
    expect(await readFile(join(folder, 'step-1/file'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['step-1']);
  });

  it('turns a system error inside fill into a StorageError', async () => {
    const failing = writeFolderAtomic(join(folder, 'x'), (target) => readdir(join(target, 'absent')).then());
    await expect(failing).rejects.toBeInstanceOf(StorageError);
  });
});
