import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { MAIN, runChild } from './run-child.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-commands-'));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => runChild(MAIN, ...args);

/** The commands around stages: those that know --dry-run. */
const STAGES = COMMANDS.filter((definition) => {
  const command = new Command();
  definition.configure(command);
  return command.options.some((option) => option.long === '--dry-run');
}).map((definition) => definition.path.join(' '));

describe('every stage command', () => {
  it.each(STAGES)('%s refuses an unknown key', async (path) => {
    const child = await run(...path.split(' '), '--set', 'noSuchSetting=1', '--dry-run');
    expect(child).toMatchObject({ code: 2, stdout: '' });
    expect(child.stderr).toContain('noSuchSetting');
  });
});

describe('help', () => {
  it('goes to standard output and ends with 0', async () => {
    const child = await run('--help');
    expect(child).toMatchObject({ code: 0, stderr: '' });
    for (const definition of COMMANDS) expect(child.stdout).toContain(`\n  ${definition.path[0]} `);
  });

  it('loads neither the numeric libraries nor sharp', () => {
    const script = `
      import { createRequire } from 'node:module';
      await import(${JSON.stringify(new URL('../../src/cli/commands/index.ts', import.meta.url).href)});
      await import(${JSON.stringify(new URL('../../src/cli/program.ts', import.meta.url).href)});
      console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'));`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const loaded = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' }).stdout;
    // That one is loaded shows that the list would name the others.
    expect(loaded).toContain('/cli-progress/');
    expect(loaded).not.toMatch(/tensorflow|onnxruntime|\/sharp\//);
  });
});

describe('version', () => {
  const require = createRequire(import.meta.url);
  const own = require('../../package.json') as { version: string; dependencies: Record<string, string> };

  it('--version prints the version alone', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, stdout: `${own.version}\n` });
  });

  it('the command adds Node and what each backend computes with, or why it cannot', async () => {
    const { code, stdout } = await run('version');
    expect(code).toBe(0);
    const rows = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
    );
    expect(rows['q-ponder']).toBe(own.version);
    expect(rows.node).toContain(process.versions.node);
    // Dependencies are pinned exactly, so the loaded version is the one of package.json.
    expect(rows['backend onnx']).toContain(own.dependencies['onnxruntime-node']);
    expect(rows['backend cpu']).toContain(own.dependencies['@tensorflow/tfjs']);
    expect(rows['backend tensorflow']).toMatch(/^not available: |thread/);
  });
});

describe('data and teacher', () => {
  it('synth, then distill: every training image is answered, accepted or refused', async () => {
    const set = join(folder, 'set');
    const counts = 'counts={train: 6, validation: 2, test: 2, cross: 2}';
    const made = await run(
      'data',
      'synth',
      '--out',
      set,
      '--threads',
      '1',
      '--set',
      counts,
      '--set',
      'size=48',
    );
    expect(made.code).toBe(0);
    expect(made.stdout).toContain('train: 6 images');
    expect(await readdir(join(set, 'images'))).toHaveLength(12);

    const rows = join(folder, 'rows');
    const taught = await run('distill', '--data', set, '--out', rows);
    expect(taught.code).toBe(0);
    const count = async (name: string) =>
      (await readFile(join(rows, name), 'utf8')).split('\n').filter((line) => line !== '').length;
    expect((await count('accepted.jsonl')) + (await count('rejected.jsonl'))).toBe(6);
  });

  it('distill of a folder without a data set ends with 3 and says what is missing', async () => {
    const child = await run('distill', '--data', join(folder, 'none'), '--out', join(folder, 'x'));
    expect(child.code).toBe(3);
    expect(child.stderr).toContain(`${join(folder, 'none')} is no data set folder: it has no records.jsonl`);
  });
});

describe('eval correlate', () => {
  it('prints SRCC of a small table', async () => {
    const path = join(folder, 'predictions.csv');
    await writeFile(path, 'score,mos\n1,2\n2,3\n3,3.5\n4,1\n');
    const child = await run(
      'eval',
      'correlate',
      path,
      '--pred',
      'score',
      '--mos',
      'mos',
      '--set',
      'resamples=0',
    );
    expect(child.code).toBe(0);
    // Ranks of mos are 2 3 4 1: squared differences 1 + 1 + 1 + 9 = 12; 1 - 6 * 12 / (4 * 15) = -0.2.
    expect(child.stdout).toMatch(/^all +4 +-0\.2000 /m);
  });

  it('a missing column ends with 3', async () => {
    const path = join(folder, 'other.csv');
    await writeFile(path, 'a,b\n1,2\n');
    expect((await run('eval', 'correlate', path, '--pred', 'score', '--mos', 'b')).code).toBe(3);
  });
});
