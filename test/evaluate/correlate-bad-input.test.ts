import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CorrelateOptions, correlateFiles, formatCorrelation } from '../../src/evaluate/index.ts';
import { failureOf, type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

type Over = Partial<CorrelateOptions>;
const correlate = async (paths: string | string[], over: Over = {}) =>
  correlateFiles({
    ...{ files: [paths].flat(), predictions: ['score'], target: 'mos', resamples: 0, fit: 'none' },
    ...over,
  });
const textOf = async (text: string, over: Over = {}) =>
  formatCorrelation(await correlate(await files.write(text), over));
const refusal = async (text: string, over: Over = {}) => failureOf(correlate(await files.write(text), over));

describe('bad cells', () => {
  it('are left out and said: the count, the lines, the text', async () => {
    const lines = ['1,2', ',3', 'n/a,3', '4,"1,5"', '5,NaN', '6,7', '7,inf', '1e1,9.5', '3,-.5', '8', '2,2'];
    const path = await files.write(`score,mos\n${lines.join('\n')}\n`, 'cells.csv');
    const report = await correlate(path);
    expect(report.results[0]!.overall.n).toBe(5);
    expect(report.notices).toEqual([
      `${path}: the row can't be read in 1 row, left out: line 11 (1 cells, the header has 2)`,
      `${path}: "score" is empty in 1 row, left out: line 3`,
      `${path}: "score" is not a number in 1 row, left out: line 4 ("n/a")`,
      `${path}: "mos" is not a number in 1 row, left out: line 5 ("1,5")`,
      `${path}: "mos" is NaN or infinite in 2 rows, left out: lines 6, 8`,
    ]);
  });

  it('of Parquet are left out alike, by row', async () => {
    const path = await files.parquet([
      { name: 'score', data: [1, Number.NaN, 3, null, 5], type: 'DOUBLE' },
      { name: 'mos', data: [1, 2, 3, 4, 5], type: 'DOUBLE' },
    ]);
    const { results, notices } = await correlate(path);
    expect(results[0]!.overall.n).toBe(3);
    expect(notices).toEqual([
      `${path}: "score" is NaN or infinite in 1 row, left out: row 2`,
      `${path}: "score" is empty in 1 row, left out: row 4`,
    ]);
  });

  it('alone are refused, with the first problem', async () => {
    expect(await refusal('score,mos\nx,1\n,2\ny,3\n')).toMatch(
      /INPUT: .*: 0 of 3 row\(s\) have a number in each of "score", "mos", at least 3 are needed \| first problem: .*, line 2, "score" is "x", not a number/,
    );
  });
});

describe('too little', () => {
  it('two rows are refused', async () => {
    expect(await refusal('score,mos\n1,1\n2,2\n')).toContain('2 of 2 row(s) have a number');
  });
  it('a header alone is refused', async () => {
    expect(await refusal('score,mos\n')).toContain('0 of 0 row(s)');
  });
  it('constant predictions have no correlation, and the value is said', async () => {
    const text = await textOf('score,mos\n3,1\n3,2\n3,4\n');
    expect(text).toMatch(/^all +3 +undefined +- +undefined +- +undefined$/m);
    expect(text).toContain('note: "score", all rows: all 3 scores equal 3');
    expect(text).not.toContain('NaN');
  });
  it('constant targets alike', async () => {
    expect(await textOf('score,mos\n1,4\n2,4\n3,4\n')).toContain('all 3 targets equal');
  });
});

describe('ids', () => {
  it('that occur twice are refused, with their lines', async () => {
    const text = 'image,score,mos\na,1,1\nb,2,2\na,3,3\nc,1,1\nb,1,1\n';
    expect(await refusal(text, { id: 'image' })).toMatch(
      /INPUT: .*: 2 value\(s\) of "image" occur more than once: a \(lines 2, 4\), b \(lines 3, 6\)/,
    );
  });
  it('that are empty are refused, with their lines', async () => {
    expect(await refusal('image,score,mos\na,1,1\n,2,2\n', { id: 'image' })).toContain(
      '"image" is empty in 1 row(s): line 3',
    );
  });
  it('of our own predictions are looked at without being asked', async () => {
    const row = JSON.stringify({ id: 'a', score: 1, mos: 1, status: 'ok', wellFormed: true });
    const path = await files.write(`${row}\n${row}\n`, 'twice.jsonl');
    expect(await failureOf(correlate(path))).toContain('a (lines 1, 2)');
  });
});

describe('labels in a second file', () => {
  const predictions = 'image,score\na,1\nb,2\nc,3\nd,4\n';
  const labels = async (text: string) => ({ labels: await files.write(text), id: 'image' });

  it('are joined by id in any order', async () => {
    const over = await labels('mos,image\n4,d\n1,a\n3,c\n2,b\n');
    const { results } = await correlate(await files.write(predictions), over);
    expect(results[0]!.overall).toMatchObject({ n: 4, srcc: { value: expect.closeTo(1, 12) as number } });
  });

  it('under another name of the id, and grouped by a column of theirs', async () => {
    const over = await labels('file,mos,kind\na,1,x\nb,2,x\nc,3,x\nd,4,y\n');
    const report = await correlate(await files.write(predictions), { ...over, labelsId: 'file', by: 'kind' });
    expect(report.results[0]!.groups.map(({ group, n }) => [group, n])).toEqual([
      ['x', 3],
      ['y', 1],
    ]);
  });

  it('join Parquet numbers with CSV text', async () => {
    const path = await files.parquet([
      { name: 'image', data: [1n, 2n, 3n], type: 'INT64' },
      { name: 'score', data: [1, 2, 3], type: 'DOUBLE' },
    ]);
    const { results } = await correlate(path, await labels('image,mos\n1,10\n2,20\n3,30\n'));
    expect(results[0]!.overall.n).toBe(3);
  });

  it('that match in part: both sides are counted and named', async () => {
    const over = await labels('image,mos\na,1\nb,2\nc,3\ny,4\nz,5\n');
    const report = await correlate(await files.write(predictions), over);
    expect(report.unmatched).toEqual({
      predictions: { count: 1, examples: ['d'] },
      labels: { count: 2, examples: ['y', 'z'] },
    });
    expect(report.notices).toEqual([
      '1 prediction(s) have no label, left out: d',
      '2 label(s) have no prediction, left out: y, z',
    ]);
  });

  it('that do not match at all are refused, and a spelling that would match is said', async () => {
    const over = await labels('image,mos\nimg/a.png,1\nimg/b.png,2\nimg/c.png,3\n');
    expect(await refusal(predictions, over)).toMatch(
      /no "image" of the 4 predictions occurs among the 3 "image" of .*: predictions have a, b and 2 more, labels have img\/a\.png, img\/b\.png and 1 more \| 3 would match without folders and extension/,
    );
    expect(await refusal(predictions, await labels('image,mos\nx,1\n'))).toContain('of one data set?');
  });

  it('win over a column of the same name in the predictions, and that is said', async () => {
    const over = await labels('image,mos\na,3\nb,2\nc,1\n');
    const path = await files.write('image,score,mos\na,1,1\nb,2,2\nc,3,3\n');
    const report = await correlate(path, over);
    expect(report.results[0]!.overall.srcc).toMatchObject({ value: expect.closeTo(-1, 12) as number });
    expect(report.notices).toEqual([
      `"mos" is taken from ${over.labels}; the column of that name in ${path} was not used`,
    ]);
  });

  it('need an id', async () => {
    const { labels: path } = await labels('image,mos\na,1\n');
    expect(await refusal(predictions, { labels: path })).toContain('name it with --id');
  });

  it('with an id twice are refused', async () => {
    expect(await refusal(predictions, await labels('image,mos\na,1\na,2\n'))).toContain('a (lines 2, 3)');
  });

  it('with text for a number: the line of the labels is said', async () => {
    const over = await labels('image,mos\na,1\nb,good\nc,3\nd,4\n');
    const { notices } = await correlate(await files.write(predictions), over);
    expect(notices).toEqual([`${over.labels}: "mos" is not a number in 1 row, left out: line 3 ("good")`]);
  });
});

describe('files', () => {
  it('given twice are refused', async () => {
    const path = await files.write('score,mos\n1,1\n2,2\n3,3\n');
    expect(await failureOf(correlate([path, path]))).toContain('have the same content');
  });
  it('without the column to group by are refused', async () => {
    expect(await refusal('score,mos\n1,1\n2,2\n3,3\n', { by: 'kind' })).toMatch(
      /has no column "kind" to group by \| columns found: score, mos/,
    );
  });
});
