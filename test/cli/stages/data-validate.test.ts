import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printable, speedOf } from '../../../src/cli/stages/data-validate.ts';
import { writeJsonl } from '../../../src/core/index.ts';
import { synthesisConfigSchema, synthesize } from '../../../src/data/index.ts';
import { MAIN, runChild } from '../run-child.ts';

let folder: string;
let data: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-validate-'));
  data = join(folder, 'set');
  const counts = { train: 12, validation: 2, test: 4, cross: 0 };
  await synthesize(synthesisConfigSchema.parse({ output: data, size: 48, counts }), { workers: 1 });
});
afterAll(() => rm(folder, { recursive: true }));

describe('q-ponder data validate', () => {
  it('ends with 0 for a sound set and keeps its folder as it was', async () => {
    const child = await runChild(MAIN, 'data', 'validate', data);
    expect(child.code).toBe(0);
    expect(child.stdout).toContain('18 images, train 12, validation 2, test 4; 18 with a score');
    expect(await readFile(join(folder, 'set-validation', 'report.html'), 'utf8')).toContain('18 images');
    // "data synth" refuses to replace a folder with files of others in it.
    const config = synthesisConfigSchema.parse({
      output: data,
      size: 48,
      counts: { train: 12, validation: 2, test: 4, cross: 0 },
    });
    expect((await synthesize(config, { workers: 1 })).images).toBe(18);
  });

  it('ends with 3 for a problem, after the report, and with 0 when told to ignore it', async () => {
    const bad = join(folder, 'bad');
    await mkdir(join(bad, 'images'), { recursive: true });
    await writeFile(join(bad, 'images', 'a.png'), 'no picture');
    const child = await runChild(MAIN, 'data', 'validate', bad);
    expect(child.code).toBe(3);
    expect(child.stdout).toContain('problem: Images that cannot be decoded: 1');
    expect(child.stderr).toContain('has 1 problem(s) and 0 warning(s)');
    const ignored = await runChild(MAIN, 'data', 'validate', bad, '--set', 'ignore=[broken-image]');
    expect(ignored.code).toBe(0);
  });

  it('prints the report as JSON alone', async () => {
    const { code, stdout } = await runChild(MAIN, 'data', 'validate', data, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ images: 18, problems: 0, labels: 18 });
  });
});

describe('q-ponder data split', () => {
  it('writes data sets that other commands read', async () => {
    const out = join(folder, 'splits');
    const { code, stdout } = await runChild(MAIN, 'data', 'split', data, '--out', out, '--repeats', '2');
    expect(code).toBe(0);
    // 18 images in groups of their own; 4 of 18 are nearest to 3.6.
    expect(stdout).toMatch(
      /split-02: train 14 \(mean MOS [\d.]+\), test 4 \(mean MOS [\d.]+\); [0-9a-f]{12}/,
    );
    const child = await runChild(MAIN, 'data', 'validate', join(out, 'split-02'));
    expect(child.code).toBe(0);
    expect(child.stdout).toContain('18 images, train 14, test 4');
  });

  it('a set of one group ends with 3', async () => {
    const rows = [{ id: 'a', split: 'train' }].map((row) => ({
      ...row,
      image: 'a.png',
      dataset: 'one',
      mos: 3,
      mosStd: null,
      raters: null,
      distortions: [],
      content: null,
      group: 'g',
      source: 'imported',
      generator: null,
    }));
    await writeJsonl(join(folder, 'one', 'records.jsonl'), rows);
    const child = await runChild(MAIN, 'data', 'split', join(folder, 'one'), '--out', join(folder, 'x'));
    expect(child.code).toBe(3);
    expect(child.stderr).toContain('1 group(s), too few for 2 splits');
  });
});

it('shows what would steer a terminal as JSON writes it', () => {
  expect(printable('\u001b[31mred\nnext \u202e é.png')).toBe('\\u001b[31mred\\u000anext \\u202e é.png');
});

describe('speedOf', () => {
  it('is the rate of the images that were decoded, over the time it took', () => {
    const report = { decoded: 10_000, known: 0, absent: 0, lookingSeconds: 20, seconds: 21.1 };
    expect(speedOf(report)).toBe(
      '10000 decoded in 20.0 s (500/s), 0 known from the last run, 0 not there; 21.1 s in all',
    );
  });

  it('is none where everything was known', () => {
    const report = { decoded: 0, known: 9_999, absent: 1, lookingSeconds: 1, seconds: 1.5 };
    expect(speedOf(report)).toBe('0 decoded, 9999 known from the last run, 1 not there; 1.5 s in all');
  });
});
