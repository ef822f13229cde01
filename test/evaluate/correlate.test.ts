import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CorrelateOptions, correlateFiles, formatCorrelation } from '../../src/evaluate/index.ts';
import { type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

type Over = Partial<CorrelateOptions>;
const correlate = async (paths: string | string[], over: Over = {}) =>
  correlateFiles({ files: [paths].flat(), predictions: ['score'], target: 'mos', resamples: 0, ...over });
const correlateCsv = async (text: string, over: Over = {}) => correlate(await files.write(text), over);
const ok = (value: number) => ({ status: 'ok', value: expect.closeTo(value, 12) as number });

describe('correlateFiles', () => {
  it('measures two columns by name, in any order', async () => {
    // Ranks of the scores are 1 3 2 4: squared differences sum to 2, 1 - 6 * 2 / (4 * 15) = 0.8.
    const { results, rows, skipped } = await correlateCsv('mos,name,score\n1,a,10\n2,b,30\n3,c,20\n4,d,40\n');
    expect(results[0]!.overall).toMatchObject({ n: 4, srcc: ok(0.8), krcc: ok(2 / 3), plcc: ok(0.8) });
    expect({ rows, skipped }).toEqual({ rows: 4, skipped: [] });
  });

  it('gives the same figures from CSV, JSON Lines and Parquet', async () => {
    const scores = [1.5, 2, 4, 3, 5];
    const mos = [1, 2, 3, 4.5, 4];
    const sources = [
      await files.write(`score,mos\n${scores.map((score, i) => `${score},${mos[i]}`).join('\n')}\n`),
      await files.write(
        scores.map((score, i) => JSON.stringify({ score, mos: mos[i] })).join('\n'),
        'same.jsonl',
      ),
      await files.parquet([
        { name: 'score', data: scores, type: 'DOUBLE' },
        { name: 'mos', data: mos, type: 'FLOAT' },
      ]),
    ];
    const rows = [];
    for (const path of sources) rows.push((await correlate(path, { fit: 'logistic4' })).results[0]!.overall);
    expect(rows[1]).toEqual(rows[0]);
    expect(rows[2]).toEqual(rows[0]);
  });

  it('carries n, direction, both scales, fit and the identity of the files', async () => {
    const text = `score,mos\n${[1, 2, 3, 4, 5, 6, 7].map((i) => `${i / 10},${i * i}`).join('\n')}\n`;
    const report = await correlateCsv(text, { codeVersion: '1.2.3', fit: 'logistic4' });
    expect(report.results[0]!.overall).toMatchObject({
      ...{ n: 7, direction: 'higher-better' },
      scale: { prediction: { min: 0.1, max: 0.7 }, target: { min: 1, max: 49 } },
      fit: { status: 'ok', model: 'logistic4', parameters: { length: 4 } },
    });
    expect(report.files).toEqual([
      {
        path: report.files[0]!.path,
        format: 'csv',
        rows: 7,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
    expect(report.codeVersion).toBe('1.2.3');
  });

  it('splits by a column, and has no correlation of two rows', async () => {
    const rows = ['1,1,up', '2,2,up', '3,3,up', '1,3,down', '2,2,down', '3,1,down', '5,5,two', '6,7,two'];
    const { results } = await correlateCsv(`score,mos,kind\n${rows.join('\n')}\n`, { by: 'kind' });
    expect(results[0]!.groups.map(({ group, n, srcc }) => [group, n, srcc])).toEqual([
      ['up', 3, ok(1)],
      ['down', 3, ok(-1)],
      ['two', 2, expect.objectContaining({ reason: 'too-few' })],
    ]);
    expect(results[0]!.means).toEqual([]);
  });

  it('groups our own predictions by their main true distortion', async () => {
    const own = (id: number, truth: string[]) =>
      JSON.stringify({
        ...{ id: `i${id}`, mos: id, score: id, status: 'ok', wellFormed: true },
        distortionsTrue: truth.map((type) => ({ type })),
      });
    const lines = [
      own(1, ['jpeg', 'noise']),
      own(2, ['jpeg']),
      own(3, []),
      own(4, ['noise']),
      own(5, ['jpeg']),
    ];
    const report = await correlate(await files.write(lines.join('\n'), 'own.jsonl'), { by: 'distortion' });
    expect(report.results[0]!.groups.map(({ group, n }) => [group, n])).toEqual([
      ['jpeg', 3],
      ['none', 1],
      ['noise', 1],
    ]);
  });

  it('weighs the mean over data sets by their rows, the files being the data sets', async () => {
    // SRCC 1 on 3 rows and 0.8 on 4: (3 + 3.2) / 7 by rows, 0.9 plain.
    const a = await files.write('score,mos\n1,1\n2,2\n3,3\n', 'first.csv');
    const b = await files.write('score,mos\n1,1\n3,2\n2,3\n4,4\n', 'second.csv');
    const { results } = await correlate([a, b], { by: 'dataset', fit: 'none' });
    const [result] = results;
    expect(result!.groups.map(({ group, n }) => [group, n])).toEqual([
      ['first', 3],
      ['second', 4],
    ]);
    expect(result!.means).toMatchObject([
      { how: 'by-n', n: 7, srcc: ok(6.2 / 7), plccFitted: null },
      { how: 'plain', n: 7, srcc: ok(0.9) },
    ]);
  });

  it('takes data sets from a column "dataset" where there is one', async () => {
    const text = 'score,mos,dataset\n1,1,x\n2,2,x\n3,3,x\n1,3,y\n2,2,y\n3,1,y\n';
    const { results } = await correlateCsv(text, { by: 'dataset', fit: 'none' });
    expect(results[0]!.groups.map(({ group, srcc }) => [group, srcc])).toEqual([
      ['x', ok(1)],
      ['y', ok(-1)],
    ]);
    expect(results[0]!.means[0]).toMatchObject({ srcc: ok(0) });
  });

  it('tells files of one name in two folders apart', async () => {
    const { mkdir } = await import('node:fs/promises');
    await mkdir(`${files.folder}/one`);
    await mkdir(`${files.folder}/two`);
    const paths = [
      await files.write('score,mos\n1,1\n2,2\n3,3\n', 'one/p.csv'),
      await files.write('score,mos\n1,3\n2,2\n3,1\n', 'two/p.csv'),
    ];
    const { results } = await correlate(paths, { by: 'dataset', fit: 'none' });
    expect(results[0]!.groups.map(({ group }) => group)).toEqual(paths);
  });

  it('has no mean where a data set has no value', async () => {
    const text = 'score,mos,dataset\n1,1,x\n2,2,x\n3,3,x\n1,3,y\n';
    const { results } = await correlateCsv(text, { by: 'dataset', fit: 'none' });
    expect(results[0]!.means[0]!.srcc).toMatchObject({
      reason: 'too-few',
      detail: expect.stringMatching(/^y: 1 row/),
    });
  });

  it('turns the sign for lower-better targets and says so', async () => {
    const report = await correlateCsv('score,mos\n1,30\n2,20\n3,10\n', { lowerBetter: true });
    expect(report.results[0]!.overall).toMatchObject({ direction: 'lower-better', srcc: ok(1) });
    expect(formatCorrelation(report)).toContain('"mos" is lower-better');
  });

  it('refuses a fit against the stated direction', async () => {
    const report = await correlateCsv(
      `score,mos\n${[1, 2, 3, 4, 5, 6].map((i) => `${i},${9 - i}`).join('\n')}\n`,
    );
    expect(report.results[0]!.overall.fit).toMatchObject({ reason: 'fit-flips-sign' });
    expect(formatCorrelation(report)).toContain('refused');
  });

  it('gives the same intervals for the same seed, and others for another', async () => {
    const path = await files.write(
      `score,mos\n${[3, 1, 4, 1, 5, 9, 2, 6].map((x, i) => `${i},${x}`).join('\n')}\n`,
    );
    const interval = async (seed: number) =>
      (await correlate(path, { resamples: 200, seed, fit: 'none' })).results[0]!.overall.plccInterval;
    expect(await interval(1)).toEqual(await interval(1));
    expect(await interval(1)).not.toEqual(await interval(2));
  });
});

describe('two prediction columns', () => {
  const text = (columns: string[], rows: (number | string)[][]) =>
    `${columns.join(',')}\n${rows.map((row) => row.join(',')).join('\n')}\n`;

  it('are measured on the rows that both have', async () => {
    const rows = [
      [1, 1, 1],
      [2, '', 2],
      [3, 2, 3],
      [4, 3, 4],
    ];
    const report = await correlateCsv(text(['a', 'b', 'mos'], rows), {
      predictions: ['a', 'b'],
      fit: 'none',
    });
    expect(report.results.map(({ prediction, overall }) => [prediction, overall.n])).toEqual([
      ['a', 3],
      ['b', 3],
    ]);
    expect(report.pairs[0]).toMatchObject({ a: 'a', b: 'b', rows: [{ n: 3, srcc: { difference: ok(0) } }] });
  });

  it('differ by the second minus the first', async () => {
    // SRCC of b is 1, of a -1.
    const rows = [1, 2, 3, 4, 5].map((i) => [6 - i, i, i]);
    const { pairs } = await correlateCsv(text(['a', 'b', 'mos'], rows), {
      predictions: ['a', 'b'],
      fit: 'none',
    });
    expect(pairs[0]!.rows[0]!.srcc.difference).toEqual(ok(2));
  });

  it('that are one column under two names have no test, with the reason', async () => {
    const rows = [1, 2, 3, 4, 5, 6].map((i) => [i, i, (i * 7) % 5]);
    const { pairs } = await correlateCsv(text(['a', 'b', 'mos'], rows), { predictions: ['a', 'b'] });
    expect(pairs[0]!.rows[0]!.srcc).toMatchObject({
      difference: ok(0),
      steiger: { reason: 'identical-predictors' },
    });
  });

  it('make a pair each, of three columns', async () => {
    const rows = [1, 2, 3, 4, 5].map((i) => [i, 6 - i, (i * 2) % 5, i]);
    const { pairs } = await correlateCsv(text(['a', 'b', 'c', 'mos'], rows), {
      predictions: ['a', 'b', 'c'],
      fit: 'none',
    });
    expect(pairs.map(({ a, b }) => a + b)).toEqual(['ab', 'ac', 'bc']);
  });
});

interface Expected {
  db: string;
  metric: string;
  n: number;
  srcc: number;
  krcc: number;
  plcc_raw: number;
  logistic5: { plcc: number; rmse: number };
}

const fsim = fileURLToPath(new URL('../../../shared/data/predictions_fsim/', import.meta.url));
const absent = !existsSync(fsim);
if (absent) console.log(`skipped: published predictions, because ${fsim} is absent`);

describe.skipIf(absent)('FSIM and FSIMc on CSIQ, IVC and LIVE', () => {
  const expected = absent
    ? []
    : (JSON.parse(readFileSync(`${fsim}expected_metrics.json`, 'utf8')) as Expected[]);
  const lowerBetter = (db: string): boolean => db !== 'IVC';

  it.each(expected.map((row) => [row.db, row.metric, row] as const))(
    '%s, %s: agrees with scipy',
    async (db, metric, row) => {
      const { results } = await correlateFiles({
        ...{ files: [`${fsim}${db}.csv`], predictions: [metric.toLowerCase()], target: 'subjective' },
        ...{ lowerBetter: lowerBetter(db), fit: 'logistic5', resamples: 0 },
      });
      const { overall } = results[0]!;
      const near = (value: number, digits: number) => ({
        value: expect.closeTo(Math.abs(value), digits) as number,
      });
      expect(overall).toMatchObject({
        ...{ n: row.n, srcc: near(row.srcc, 9), krcc: near(row.krcc, 9), plcc: near(row.plcc_raw, 9) },
        fit: {
          plcc: expect.closeTo(row.logistic5.plcc, 3) as number,
          rmse: expect.closeTo(row.logistic5.rmse, 2) as number,
        },
      });
    },
  );
});

describe.skipIf(absent)('FSIMc minus FSIM on CSIQ', () => {
  it('has the difference of the two SRCC, F of the two RMSE, and all tests on the side of FSIMc', async () => {
    const rows = (JSON.parse(readFileSync(`${fsim}expected_metrics.json`, 'utf8')) as Expected[]).filter(
      ({ db }) => db === 'CSIQ',
    );
    const [plain, colour] = ['FSIM', 'FSIMc'].map((metric) => rows.find((row) => row.metric === metric)!);
    const { pairs } = await correlateFiles({
      ...{ files: [`${fsim}CSIQ.csv`], predictions: ['fsim', 'fsimc'], target: 'subjective' },
      ...{ lowerBetter: true, fit: 'logistic5', resamples: 200 },
    });
    const { n, srcc, plcc, residuals } = pairs[0]!.rows[0]!;
    expect(n).toBe(866);
    expect(srcc.difference).toEqual({
      status: 'ok',
      value: expect.closeTo(Math.abs(colour!.srcc) - Math.abs(plain!.srcc), 9) as number,
    });
    // Residuals of a least-squares fit with a constant have mean 0, so F is the ratio of the squared RMSE.
    expect(residuals).toMatchObject({
      statistic: expect.closeTo((colour!.logistic5.rmse / plain!.logistic5.rmse) ** 2, 3) as number,
    });
    for (const test of [srcc.steiger, srcc.williams, plcc.steiger, plcc.williams]) {
      expect(test.status === 'ok' && test.statistic > 0 && test.pValue < 1e-4).toBe(true);
    }
    expect(srcc.interval).toMatchObject({ status: 'ok', low: expect.any(Number) as number });
    expect(srcc.interval?.status === 'ok' && srcc.interval.low > 0).toBe(true);
  });
});

interface QBench {
  model: string;
  dataset: string;
  n: number;
  keys: string[];
  /** Three digits each, for example "0.436/0.458". */
  published_srcc_plcc: string;
}

const qbench = fileURLToPath(new URL('../../../shared/data/predictions_qbench/', import.meta.url));
const withoutQBench = !existsSync(qbench);
if (withoutQBench) console.log(`skipped: logits of published models, because ${qbench} is absent`);

describe.skipIf(withoutQBench)('models of Q-Bench, as JSON Lines', () => {
  const expected = withoutQBench
    ? []
    : (JSON.parse(readFileSync(join(qbench, 'expected_metrics.json'), 'utf8')) as QBench[]).filter(
        ({ model, dataset, n }) => n < 5000 && existsSync(join(qbench, model, `${dataset}.json`)),
      );

  it.each(expected.map((row) => [row.model, row.dataset, row] as const))(
    '%s on %s: has the published SRCC and PLCC',
    async (model, dataset, row) => {
      // The file holds objects one after the other; the score is the softmax of two logits at temperature 100.
      const text = readFileSync(join(qbench, model, `${dataset}.json`), 'utf8').replaceAll('}{', '}\n{');
      const lines = text
        .trim()
        .split('\n')
        .map((line) => {
          const { gt_score: mos, ...logits } = JSON.parse(line) as Record<string, number>;
          const [good, poor] = row.keys.map((key) => Math.exp(logits[key]! / 100));
          return JSON.stringify({ mos, score: good! / (good! + poor!) });
        });
      const path = await files.write(lines.join('\n'), `${model}-${dataset}.jsonl`);
      const { results } = await correlate(path, { fit: 'none' });
      const { n, srcc, plcc } = results[0]!.overall;
      const figures = [srcc, plcc].map((metric) =>
        metric.status === 'ok' ? metric.value.toFixed(3) : metric.reason,
      );
      expect([n, figures.join('/')]).toEqual([row.n, row.published_srcc_plcc]);
    },
  );
});
