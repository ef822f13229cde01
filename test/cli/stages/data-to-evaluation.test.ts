import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStageFixture, records, type StageFixture, teachContract } from '../../train/stage-fixture.ts';
import { MAIN, runChild } from '../run-child.ts';
import { readRows, spearman } from './prediction-rows.ts';

let fixture: StageFixture;
let model: string;

beforeAll(async () => {
  fixture = await createStageFixture();
  model = await teachContract(fixture);
});
afterAll(() => fixture.remove());

describe('q-ponder data synth', () => {
  it('makes the same data set with two processes as the library with none', async () => {
    const counts = ['counts.train=24', 'counts.validation=6', 'counts.test=6', 'counts.cross=0'];
    const { code, stdout } = await runChild(
      MAIN,
      ...['data', 'synth', '--out', fixture.path('synth'), '--threads', '2', '--set', 'size=56'],
      ...counts.flatMap((setting) => ['--set', setting]),
    );
    expect(code).toBe(0);
    const name = (folder: string) => join(folder, 'records.jsonl');
    expect(await readFile(name(fixture.path('synth')))).toEqual(await readFile(name(fixture.data)));
    expect(stdout).toContain('36 images');
    const [first] = await records(fixture.data);
    const [a, b] = await Promise.all(
      [fixture.path('synth'), fixture.data].map((folder) => readFile(join(folder, first!.image))),
    );
    expect(a!.equals(b!)).toBe(true);
  });

  it('asks for an output folder', async () => {
    const { code, stderr } = await runChild(MAIN, 'data', 'synth');
    expect(code).toBe(2);
    expect(stderr).toContain('output is missing: give --out <folder>');
  });
});

describe('q-ponder distill', () => {
  it('has an answer for each training picture, accepted or refused with the reason counted', async () => {
    const output = fixture.path('teacher');
    const { code, stdout } = await runChild(MAIN, 'distill', '--data', fixture.data, '--out', output);
    expect(code).toBe(0);
    const [accepted, rejected] = await Promise.all(
      ['accepted', 'rejected'].map(async (name) =>
        (await readFile(join(output, `${name}.jsonl`), 'utf8'))
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as { id: string; accepted: boolean }),
      ),
    );
    expect(stdout).toContain(`${accepted!.length} of 24 answers accepted`);
    const train = (await records(fixture.data)).filter(({ split }) => split === 'train').map(({ id }) => id);
    expect([...accepted!, ...rejected!].map(({ id }) => id).sort()).toEqual(train.sort());
    expect(accepted!.every((row) => row.accepted)).toBe(true);
    expect(rejected!.some((row) => row.accepted)).toBe(false);
  });

  it('a split without pictures ends with 3', async () => {
    const { code, stderr } = await runChild(
      MAIN,
      ...['distill', '--data', fixture.data, '--out', fixture.path('none'), '--set', 'splits=[cross]'],
    );
    expect(code).toBe(3);
    expect(stderr).toContain('has no image with a score in the split(s) cross');
  });
});

describe('q-ponder eval run', () => {
  const evaluate = (...more: string[]) =>
    runChild(
      MAIN,
      ...['eval', 'run', '--model', model, '--data', fixture.data, '--threads', '1', '--quiet'],
      ...more,
    );

  it('refuses to measure a model on what it was trained on', async () => {
    const { code, stdout, stderr } = await evaluate('--splits', 'train');
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toContain('24 in the training images of cold-start');
  });

  it('prints and writes the figures of its predictions', async () => {
    const output = fixture.path('evaluation');
    const allowed = ['--splits', 'train', 'test', '--allow-leakage'];
    const { code, stdout } = await evaluate(...allowed, '--out', output);
    expect(code).toBe(0);
    const rows = await readRows(join(output, 'train-greedy', 'predictions.jsonl'));
    expect(rows).toHaveLength(24);
    const expected = spearman(
      rows.map(({ score }) => score!),
      rows.map(({ mos }) => mos),
    );
    const { summary, provenance } = JSON.parse(
      await readFile(join(output, 'train-greedy', 'summary.json'), 'utf8'),
    ) as { summary: { srcc: { value: { value: number } } }; provenance: Record<string, unknown> };
    expect(summary.srcc.value.value).toBeCloseTo(expected, 12);
    expect(provenance).toMatchObject({ split: 'train', dataset: fixture.data, mode: 'greedy' });
    expect(stdout).toMatch(
      new RegExp(`train, greedy\\n {2}images +24 .*\\n {2}SRCC +${expected.toFixed(3)} `),
    );
    expect(stdout).toContain('test, greedy\n');
  });

  it.each([
    ['a split without pictures', ['--splits', 'cross'], 3, 'has no image with a MOS in split cross'],
    ['an unknown split', ['--splits', 'tset'], 2, 'splits.0: '],
  ])('%s ends with its code', async (_what, args, code, message) => {
    const ended = await evaluate(...args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
