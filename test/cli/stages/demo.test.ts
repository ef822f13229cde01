import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStageFixture, type StageFixture, teachContract } from '../../train/stage-fixture.ts';
import { type Ended, MAIN, runChild } from '../run-child.ts';
import { readRows, spearman } from './prediction-rows.ts';

let fixture: StageFixture;
let base: string;
let first: Ended;

const demo = (...args: string[]) =>
  runChild(
    MAIN,
    ...['demo', '--out', fixture.path('demo'), '--threads', '1', '--set', `base=${base}`],
    ...(args.length > 0 ? args : ['--minutes', '0.02']),
  );

beforeAll(async () => {
  fixture = await createStageFixture();
  base = await teachContract(fixture);
  first = await demo();
});
afterAll(() => fixture.remove());

describe('q-ponder demo', () => {
  it('does the whole job: a table of both models, a report and a model', async () => {
    expect(first.code).toBe(0);
    for (const line of ['Held-out scenes, greedy', 'Unseen distortions, one sample at T = 1'])
      expect(first.stdout).toMatch(new RegExp(`^${line} \\(\\d+ (of \\d+ )?images.*\\)$`, 'm'));
    expect(first.stdout.match(/^ {2}Q-Ponder-CI +SRCC /gm)).toHaveLength(4);
    expect(first.stdout.match(/^ {2}Q-Ponder +SRCC /gm)).toHaveLength(4);
    // What little it can learn is said first, and how to use a model outside the default folder last.
    expect(first.stdout).toMatch(/^note: --minutes 0\.02 is below 2: too little will be learnt/);
    expect(first.stdout).toContain('to use it: q-ponder score photo.jpg --model ');
    expect(first.stdout).not.toContain('uses it)');
    const report = await readFile(fixture.path('demo/report.html'), 'utf8');
    expect(report).toContain('Q-Ponder: a miniature trained on this machine');
    const weights = join(fixture.path('demo'), 'q-ponder', 'model', 'model.safetensors');
    expect((await readFile(weights)).length).toBeGreaterThan(1e6);
  });

  it.each(['Q-Ponder-CI', 'Q-Ponder'])('prints the SRCC of %s that its predictions have', async (name) => {
    const rows = await readRows(fixture.path(`demo/predictions/${name}-test-greedy.jsonl`));
    expect(rows).toHaveLength(32);
    const scored = rows.filter(({ score }) => score !== null);
    expect(scored.length).toBeGreaterThan(5);
    const expected = spearman(
      scored.map(({ score }) => score!),
      scored.map(({ mos }) => mos),
    );
    const printed = new RegExp(
      `^Held-out scenes, greedy .*\\n(?: .*\\n)*? {2}${name} +SRCC (-?\\d\\.\\d+)`,
      'm',
    );
    expect(Number(printed.exec(first.stdout)?.[1])).toBeCloseTo(expected, 3);
  });

  it('the same command again trains nothing and prints the same figures', async () => {
    const again = await demo();
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('continuing from step');
    expect(again.stdout.replace(/^took .*$/m, '')).toBe(first.stdout.replace(/^took .*$/m, ''));
  });

  it('refuses a folder that was made with other settings, with 2', async () => {
    const { code, stderr } = await demo('--minutes', '1');
    expect(code).toBe(2);
    expect(stderr).toMatch(/was made with other settings\nhint: choose another --out folder/);
  });

  it.each([
    ['a base that is not there', ['--set', 'base=nowhere'], 5, /error: nowhere is missing/],
    ['a setting of a stage that does not exist', ['--set', 'coldStart.stepz=1'], 2, /stepz/],
  ])('%s is told before anything is made', async (_what, args, code, message) => {
    const out = fixture.path(`early-${code}`);
    const ended = await runChild(MAIN, 'demo', '--out', out, '--threads', '1', ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(message);
    await expect(readdir(out)).rejects.toThrow('ENOENT');
  });
});
