import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeFolder,
  StorageError,
  sha256OfFile,
  textIfPresent,
  writeFileAtomic,
  writeFolderAtomic,
} from '../../src/core/index.ts';

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

/** Kills a process in the middle of writing `target` and returns the name of what it left. */
async function leftoverOf(call: string): Promise<string> {
  const child = spawn(
    process.execPath,
    scriptArguments(`${call}; fs.writeFileSync(folder + '/started', ''); setInterval(() => {}, 1000);`),
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = once(child, 'exit');
  const find = async () => (await readdir(folder)).find((name) => name.includes('.tmp-'));
  while ((await find()) === undefined || !existsSync(join(folder, 'started'))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill('SIGKILL');
  await ended;
  await rm(join(folder, 'started'));
  return (await find()) as string;
}
const FILLING = `void core.writeFolderAtomic(folder + '/set', () => new Promise(() => {}))`;

describe('what a killed process leaves', () => {
  const write = (text: string) => (target: string) => writeFile(join(target, 'file'), text);

  it('is removed when the same folder is written next', async () => {
    await writeFolderAtomic(join(folder, 'set'), write('old'));
    const name = await leftoverOf(FILLING);
    expect(await readdir(folder)).toEqual([name, 'set']);
    await writeFolderAtomic(join(folder, 'other'), write('x'));
    expect(await readdir(folder)).toEqual([name, 'other', 'set']);
    await writeFolderAtomic(join(folder, 'set'), write('new'));
    expect(await readdir(folder)).toEqual(['other', 'set']);
    expect(await readFile(join(folder, 'set/file'), 'utf8')).toBe('new');
  });

  it('a folder that was being replaced is brought back, though the next write fails', async () => {
    const name = await leftoverOf(FILLING);
    await writeFile(join(folder, name, 'file'), 'precious');
    await rename(join(folder, name), join(folder, `${name}-old`));
    await expect(
      writeFolderAtomic(join(folder, 'set'), () => Promise.reject(new RangeError('no'))),
    ).rejects.toThrow('no');
    expect(await readdir(folder)).toEqual(['set']);
    expect(await readFile(join(folder, 'set/file'), 'utf8')).toBe('precious');
  });

  it('a retired folder whose successor is in place is removed', async () => {
    const name = await leftoverOf(FILLING);
    await rename(join(folder, name), join(folder, `${name}-old`));
    await mkdir(join(folder, 'set'));
    await writeFolderAtomic(join(folder, 'set'), write('new'));
    expect(await readdir(folder)).toEqual(['set']);
  });

  it('what a living process writes, or one on another machine, is left alone', async () => {
    const name = await leftoverOf(FILLING);
    const elsewhere = name.replace(/[0-9a-f]{8}$/, '00000000');
    await rename(join(folder, name), join(folder, elsewhere));
    await writeFolderAtomic(join(folder, 'set'), async (target) => {
      await writeFolderAtomic(join(folder, 'set'), write('inner'));
      await write('outer')(target);
    });
    expect(await readFile(join(folder, 'set/file'), 'utf8')).toBe('outer');
    expect(await readdir(folder)).toEqual([elsewhere, 'set']);
  });
});

describe('makeFolder', () => {
  it('creates what is missing, and takes what is there, links too', async () => {
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    await makeFolder(join(folder, 'link/a/b'));
    await makeFolder(join(folder, 'link/a/b'));
    expect(await readdir(join(folder, 'real/a'))).toEqual(['b']);
  });

  it('refuses a path through a file, and a file itself', async () => {
    await writeFile(join(folder, 'notes'), 'mine');
    for (const path of ['notes', 'notes/a']) {
      await expect(makeFolder(join(folder, path))).rejects.toMatchObject({
        name: 'StorageError',
        message: expect.stringMatching(/^creating folder .* failed \((EEXIST|ENOTDIR)\)$/),
      });
    }
  });

  it.runIf(existsSync('/proc/self'))('ends at once where no folder can be made', async () => {
    for (const path of ['/proc/q-ponder-x', '/proc/q-ponder-x/y']) {
      await expect(makeFolder(path)).rejects.toMatchObject({
        name: 'StorageError',
        message: 'creating folder /proc/q-ponder-x failed: /proc takes no new folders',
        hint: 'choose another folder',
      });
    }
    await expect(writeFileAtomic('/proc/q-ponder-x/y', '')).rejects.toBeInstanceOf(StorageError);
    await expect(writeFolderAtomic('/proc/q-ponder-x', () => Promise.resolve())).rejects.toThrow(
      'creating folder /proc/q-ponder-x failed: /proc takes no new folders',
    );
  });
});

it('writeFolderAtomic does not replace a file', async () => {
  await writeFile(join(folder, 'thesis'), 'precious');
  await expect(writeFolderAtomic(join(folder, 'thesis'), () => Promise.resolve())).rejects.toThrow(
    'there is a file of that name',
  );
  expect(await readFile(join(folder, 'thesis'), 'utf8')).toBe('precious');
});

it('sha256OfFile gives what sha256sum prints', async () => {
  await writeFile(join(folder, 'hello'), 'hello');
  expect(await sha256OfFile(join(folder, 'hello'))).toBe(
    '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  );
  await expect(sha256OfFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'STORAGE' });
});

it('the text of a file that is not there is null, of one that cannot be read a storage error', async () => {
  await writeFile(join(folder, 'a.txt'), 'one\n');
  expect(await textIfPresent(join(folder, 'a.txt'))).toBe('one\n');
  expect(await textIfPresent(join(folder, 'b.txt'))).toBeNull();
  await expect(textIfPresent(folder)).rejects.toMatchObject({ code: 'STORAGE' });
});
