import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { correlateFile, formatCorrelation } from '../../src/evaluate/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-correlate-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function csv(text: string): Promise<string> {
  const path = join(folder, `${files++}.csv`);
  await writeFile(path, text);
  return path;
}
const columns = { prediction: 'score', target: 'mos', resamples: 0 } as const;

describe('correlateFile', () => {
  it('measures two columns by name, in any order', async () => {
    const path = await csv('mos,name,score\n1,a,10\n2,b,30\n3,c,20\n4,d,40\n');
    const { overall, rows, skipped } = await correlateFile({ path, ...columns });
    expect(overall.srcc).toEqual({ status: 'ok', value: expect.closeTo(0.8, 12) as number });
    expect({ n: overall.n, rows, skipped }).toEqual({ n: 4, rows: 4, skipped: [] });
  });

  it('reports each row it cannot use with its line, also after a cell of two lines', async () => {
    const path = await csv(
      'score,mos,note\n1,2,"two\nlines"\n,3,\nn/a,3,\n4,"1,5",\n5,NaN,\n6,7\n\n1e1,9.5,\n 3 ,-.5,\n',
    );
    const { overall, skipped, rows } = await correlateFile({ path, ...columns });
    expect(skipped).toEqual([
      { line: 4, problem: '"score" is empty' },
      { line: 5, problem: '"score" is "n/a", not a number' },
      { line: 6, problem: '"mos" is "1,5", not a number' },
      { line: 7, problem: '"mos" is "NaN", not a number' },
      { line: 8, problem: '2 cells, the header has 3' },
    ]);
    expect({ n: overall.n, rows }).toEqual({ n: 3, rows: 8 });
  });

  it('splits by a column', async () => {
    const path = await csv('score,mos,kind\n1,1,up\n2,2,up\n1,2,down\n2,1,down\n5,5,one\n');
    const report = await correlateFile({ path, ...columns, by: 'kind' });
    expect(report.groups.map(({ group, n, srcc }) => [group, n, srcc])).toEqual([
      ['up', 2, { status: 'ok', value: 1 }],
      ['down', 2, { status: 'ok', value: -1 }],
      ['one', 1, expect.objectContaining({ reason: 'too-few' })],
    ]);
  });

  it('turns the sign for lower-better targets and says so', async () => {
    const path = await csv('score,mos\n1,30\n2,20\n3,10\n');
    const report = await correlateFile({ path, ...columns, lowerBetter: true });
    expect(report.overall.srcc).toEqual({ status: 'ok', value: 1 });
    expect(formatCorrelation(report)).toContain('"mos" is lower-better');
  });

  it('refuses a fit against the stated direction', async () => {
    const path = await csv(`score,mos\n${[1, 2, 3, 4, 5, 6].map((i) => `${i},${9 - i}`).join('\n')}\n`);
    const report = await correlateFile({ path, ...columns });
    expect(report.overall.fit).toMatchObject({ reason: 'fit-flips-sign' });
    expect(formatCorrelation(report)).toContain('refused');
  });

  it('writes the report as JSON', async () => {
    const path = await csv('score,mos\n1,1\n2,2\n');
    const json = join(folder, 'report.json');
    const report = await correlateFile({ path, ...columns, json });
    expect(JSON.parse(await readFile(json, 'utf8'))).toEqual(report);
  });

  it('reads a byte order mark, CR LF and another delimiter', async () => {
    const path = await csv('\uFEFFscore;mos\r\n1;1\r\n2;2\r\n');
    const { overall } = await correlateFile({ path, ...columns, delimiter: ';' });
    expect(overall).toMatchObject({ n: 2, srcc: { value: 1 } });
  });
});

describe('correlateFile refuses', () => {
  const refusal = async (text: string, over: object = {}) => {
    const path = await csv(text);
    return correlateFile({ path, ...columns, ...over }).then(
      () => 'accepted',
      (error: { message: string; hint: string }) => `${error.message} | ${error.hint}`,
    );
  };
  it('a column that is not there, and lists those that are', async () => {
    expect(await refusal('a,mos\n1,2\n')).toMatch(/has no column\(s\) "score" \| columns found: a, mos/);
  });
  it('a column name that occurs twice', async () => {
    expect(await refusal('score,score,mos\n1,2,3\n')).toContain('has 2 column(s) "score"');
  });
  it('a file with another delimiter, and names it', async () => {
    expect(await refusal('score;mos\n1;2\n')).toContain('is the delimiter ";"?');
  });
  it('a column without any number, and lists the columns', async () => {
    expect(await refusal('score,mos\nx,1\n,2\n')).toMatch(
      /no cell of column "score" is a number in 2 row\(s\) \| columns found: score, mos/,
    );
  });
  it('an empty file and a header alone', async () => {
    expect(await refusal('')).toContain('is empty');
    expect(await refusal('score,mos\n')).toContain('the file has a header line only');
  });
  it('a file that does not exist', async () => {
    await expect(correlateFile({ path: join(folder, 'none.csv'), ...columns })).rejects.toMatchObject({
      code: 'STORAGE',
    });
  });
});

const live = new URL('../../../shared/data/predictions_fsim/LIVE.csv', import.meta.url);
const absent = !existsSync(live);
if (absent) console.log(`skipped: published predictions, because ${live.pathname} is absent`);

describe.skipIf(absent)('FSIM on LIVE', () => {
  it('has the published SRCC .9634, KRCC .8337, PLCC .9597 (five parameters), RMSE 7.67', async () => {
    const { overall } = await correlateFile({
      path: live.pathname,
      prediction: 'fsim',
      target: 'subjective',
      lowerBetter: true,
      fit: 'logistic5',
      resamples: 0,
    });
    expect(overall.n).toBe(779);
    expect(overall.srcc).toMatchObject({ value: expect.closeTo(0.9634, 4) as number });
    expect(overall.krcc).toMatchObject({ value: expect.closeTo(0.8337, 4) as number });
    expect(overall.fit).toMatchObject({
      plcc: expect.closeTo(0.9597, 4) as number,
      rmse: expect.closeTo(7.677, 2) as number,
    });
  });
});
