import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseNumber } from '../../src/cli/stage-command.ts';
import { FIXTURE, runChild } from './run-child.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-cli-'));
  await writeFile(
    join(folder, 'a.yaml'),
    'steps: 10\noptimizer: {learningRate: 0.5, clip: 7}\nout: from-a\n',
  );
  await writeFile(join(folder, 'b.yaml'), 'steps: 20\n');
});
afterAll(() => rm(folder, { recursive: true }));

const work = (...args: string[]) => runChild(FIXTURE, 'train', 'work', ...args);

const DEFAULTS = {
  steps: 3,
  mode: 'steps',
  optimizer: { learningRate: 1e-3, clip: 1 },
  images: [],
  out: null,
};

describe('--dry-run', () => {
  it('prints every key with its default as YAML and does nothing', async () => {
    const child = await work('--dry-run');
    expect(child).toMatchObject({ code: 0, stderr: '' });
    expect(parse(child.stdout)).toEqual(DEFAULTS);
  });

  it('what it prints is a configuration that resolves to itself', async () => {
    const first = await work('--dry-run', '--set', 'optimizer.clip=0.25');
    await writeFile(join(folder, 'printed.yaml'), first.stdout);
    expect((await work('--dry-run', '--config', join(folder, 'printed.yaml'))).stdout).toBe(first.stdout);
  });

  it('layers defaults, files in order, own options, then --set', async () => {
    const child = await work(
      'photo 1.jpg',
      'b.png',
      ...[
        '--set',
        'steps=30',
        '--learning-rate',
        '0.125',
        '--set',
        'optimizer.clip=null',
        '--set',
        'optimizer.clip=2',
      ],
      ...['--config', join(folder, 'a.yaml'), '--config', join(folder, 'b.yaml'), '--dry-run'],
    );
    expect(parse(child.stdout)).toEqual({
      steps: 30,
      mode: 'steps',
      optimizer: { learningRate: 0.125, clip: 2 },
      images: ['photo 1.jpg', 'b.png'],
      out: 'from-a',
    });
  });
});

describe('required keys that nothing gave', () => {
  const needs = (...args: string[]) => runChild(FIXTURE, 'needs', ...args);

  it('--dry-run prints the plan with their places, descriptions, and how to give them', async () => {
    const { code, stdout, stderr } = await needs('--dry-run', '--set', 'kind=b');
    expect(code).toBe(0);
    expect(parse(stdout)).toEqual({
      run: '(required)',
      kind: 'b',
      images: ['(required)'],
      deep: { name: 'n', size: 3 },
    });
    expect(stdout).toContain('run: (required) # run folder\n');
    expect(stdout).toContain('kind: b # which kind\n');
    expect(stdout).toContain('  size: 3 # how large\n');
    expect(stderr).toBe(
      'run is missing: give --run <folder>\n' +
        'images is missing: give it after the command, as in "q-ponder needs <images...>"\n',
    );
  });

  it('--dry-run with other problems too prints no plan', async () => {
    const { code, stdout, stderr } = await needs('--dry-run', '--set', 'kind=c');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /has 3 problem\(s\):\n {2}run is missing: .*\n {2}images is missing: .*\n {2}kind: /,
    );
  });

  it('each is named with the way to give it, exit code 2', async () => {
    const { code, stderr } = await needs('a.png', '--set', 'deep.size=2');
    expect(code).toBe(2);
    expect(stderr).toContain(
      'error: the configuration of "needs" has 2 problem(s):\n' +
        '  run is missing: give --run <folder>\n  deep.name is missing: give --set deep.name=<value>\n',
    );
  });

  it.each([
    ['an empty text', 'run=""', /\n {2}run: Too small/],
    ['a null', 'run=null', /\n {2}run: Invalid input/],
    ['an entry of a list', 'images=[3]', /\n {2}images\.0: Invalid input/],
  ])('%s is wrong, not missing', async (_what, setting, message) => {
    const { code, stderr } = await needs('a.png', '--run', 'x', '--set', setting, '--dry-run');
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('a bad configuration ends with 2 and all problems', () => {
  it.each([
    ['--set without =', ['--set', 'steps'], '--set got "steps"'],
    ['--set of no YAML', ['--set', 'steps=[1'], '--set got "steps=[1", whose value is not YAML'],
    ['an unknown key', ['--set', 'optimizer.momentum=1'], 'momentum'],
    ['a value out of range', ['--set', 'steps=-1'], 'steps: '],
  ])('%s', async (_what, args, message) => {
    const child = await work(...args);
    expect(child).toMatchObject({ code: 2, stdout: '' });
    expect(child.stderr).toContain(message);
    expect(child.stderr).toContain('\nhint: ');
  });

  it('several problems are one message', async () => {
    const child = await work('--set', 'steps=0', '--set', 'mode=quick', '--set', 'stepz=1');
    expect(child.stderr).toMatch(/^error: the configuration of "train work" has 3 problem\(s\):\n/);
  });

  it('a missing file ends with 4', async () => {
    const child = await work('--config', join(folder, 'none.yaml'));
    expect(child.code).toBe(4);
    expect(child.stderr).toContain('none.yaml');
  });
});

describe('a stage', () => {
  it('gets configuration, backend and threads; results go to standard output, progress to standard error', async () => {
    const child = await work('--backend', 'cpu', '--threads', '2', '--set', 'steps=2');
    expect(child.code).toBe(0);
    expect(JSON.parse(child.stdout)).toEqual({
      config: { ...DEFAULTS, steps: 2 },
      backend: 'cpu',
      threads: 2,
    });
    expect(child.stderr).toContain('work: 0/2 (0 %)\n');
    expect(child.stderr).toContain('a note\n');
    expect(child.stderr).toMatch(/work: 2\/2 \(100 %\).*loss 0\.5\n$/);
  });

  it('is silent with --quiet', async () => {
    expect(await work('--quiet')).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('parseNumber', () => {
  it.each(['', ' ', 'abc', '1x'])('takes %j for no number', (text) => expect(parseNumber(text)).toBeNaN());
  it.each([
    ['0', 0],
    ['-1.5', -1.5],
    ['1e3', 1000],
  ])('reads %j', (text, value) => expect(parseNumber(text)).toBe(value));
});
