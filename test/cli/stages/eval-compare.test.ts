import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prediction } from '../../evaluate/prediction-factory.ts';
import { type TemporaryFiles, temporaryFiles } from '../../evaluate/temporary-files.ts';
import { MAIN, runChild } from '../run-child.ts';

let files: TemporaryFiles;
let before: string;
let after: string;

beforeAll(async () => {
  files = await temporaryFiles();
  const mos = Array.from({ length: 30 }, (_, i) => 1 + ((i * 11) % 30) / 7.5);
  const jsonl = (scores: (number | null)[]) =>
    scores.map((score, i) => `${JSON.stringify(prediction(`i${i}`, mos[i]!, score))}\n`).join('');
  before = await files.write(jsonl(mos.map((value) => 6 - value)), 'before.jsonl');
  after = await files.write(jsonl(mos.map((value, i) => (i === 3 ? null : value))), 'after.jsonl');
});
afterAll(() => files.remove());

describe('q-ponder eval compare', () => {
  it('prints the change on the images that both scored', async () => {
    const { code, stdout } = await runChild(MAIN, 'eval', 'compare', before, after, '--most', '1');
    expect(code).toBe(0);
    expect(stdout).toContain('test: 29 images scored by both\n');
    expect(stdout).toMatch(/^SRCC +-1\.0000 +1\.0000 +\+2\.0000 .*better$/m);
    expect(stdout).toContain('no score any more: 1 (i3)\n');
    // The largest move is that of MOS 1, from 5 to 1.
    expect(stdout).toMatch(/^most changed .*\ni0 +1\.00 +5\.00 +1\.00 +-4\.00 +-4\.00$/m);
  });

  it('prints JSON alone, and writes compare.json and a page that is whole', async () => {
    const out = join(files.folder, 'out');
    const { code, stdout } = await runChild(MAIN, 'eval', 'compare', before, after, '--json', '--out', out);
    expect(code).toBe(0);
    expect((await readdir(out)).sort()).toEqual(['compare.html', 'compare.json']);
    expect(await readFile(join(out, 'compare.json'), 'utf8')).toBe(stdout);
    const { comparisons } = JSON.parse(stdout) as {
      comparisons: { splits: { comparison: { images: number }; scores: { lost: string[] } }[] }[];
    };
    expect(comparisons[0]!.splits[0]).toMatchObject({ comparison: { images: 29 }, scores: { lost: ['i3'] } });
    const page = await readFile(join(out, 'compare.html'), 'utf8');
    expect(page).toContain("Steiger's test of the two SRCC".replace("'", '&#39;'));
    expect(page.trimEnd()).toMatch(/<\/html>$/);
  });

  it('compares each of several with the first', async () => {
    const { stdout } = await runChild(MAIN, 'eval', 'compare', before, after, before, '--json');
    const { comparisons } = JSON.parse(stdout) as { comparisons: { splits: { path: string }[] }[] };
    expect(comparisons).toHaveLength(2);
    expect(comparisons.map((one) => (one as unknown as { candidate: string }).candidate)).toEqual([
      after,
      before,
    ]);
  });

  it('asks for a second result, and ends with 2', async () => {
    const { code, stdout, stderr } = await runChild(MAIN, 'eval', 'compare', before);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('results: ');
  });

  it('ends with 3 for a folder without predictions', async () => {
    const { code, stderr } = await runChild(MAIN, 'eval', 'compare', before, files.folder);
    expect(code).toBe(3);
    expect(stderr).toContain('holds no predictions.jsonl');
  });
});
