import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Prediction,
  renderReport,
  summarize,
  writeComparisonReport,
  writeSuiteReport,
} from '../../../src/evaluate/index.ts';
import { prediction } from '../prediction-factory.ts';

/** `agreeing` of n pictures are ranked as the raters do; the others are turned round. */
const rows = (n: number, slope: 1 | -1): Prediction[] =>
  Array.from({ length: n }, (_, i) => {
    const mos = 1 + (4 * i) / (n - 1);
    return prediction(`i${i}`, mos, slope === 1 ? mos : 6 - mos);
  });

const frame = {
  title: 'Page',
  createdAt: '2026-01-02T03:04:05Z',
  provenance: [],
  picture: async () => undefined,
};

const text = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-pages-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const written = async (name: string, write: (path: string) => Promise<unknown>): Promise<string> => {
  await write(join(folder, name));
  return readFile(join(folder, name), 'utf8');
};
/** The texts of a table's rows. */
const rowsOf = (page: string, table: string): string[] =>
  page
    .split(`<table class="${table}"`)[1]!
    .split('</table>')[0]!
    .split('<tr')
    .slice(1)
    .map((row) => text(`<tr${row}`));

describe('writeSuiteReport', () => {
  let page: string;
  beforeAll(async () => {
    page = await written('suite.html', (path) =>
      writeSuiteReport(path, {
        ...frame,
        results: [
          { model: 'good', split: 'small', predictions: rows(10, 1) },
          { model: 'good', split: 'large', predictions: rows(30, -1) },
          { model: 'partial', split: 'small', predictions: rows(10, -1) },
        ],
        baseline: 'partial',
        quoted: [{ model: 'Published', split: 'small', srcc: 0.91, source: 'a paper, table 1' }],
      }),
    );
  });
  it('has the mean weighted by pictures, where a model has every data set', () => {
    const [header, good, partial] = rowsOf(page, 'overview');
    expect(header).toBe('SRCC PLCC small large mean');
    expect(good).toBe('good 1.000 1.000 -1.000 -1.000 -0.500 -0.500'); // (10 * 1 + 30 * -1) / 40
    expect(partial).toBe('partial -1.000 -1.000 – – –');
  });
  it('shows published figures as quoted, with their source', () => {
    const shown = 'Published quoted: a paper, table 1 0.910 –';
    expect(rowsOf(page, 'results')).toContain(shown);
    expect(rowsOf(page, 'overview').at(-1)).toBe(`${shown} – – –`);
  });
  it('compares with the baseline on the data sets that both have', () => {
    const [, ...differences] = rowsOf(page, 'differences');
    expect(differences).toHaveLength(1);
    expect(differences[0]).toMatch(/^small good \u2212 partial \+2\.000/);
  });
  it('refuses a baseline that is none of the models', async () => {
    await expect(
      writeSuiteReport(join(folder, 'no.html'), {
        ...frame,
        results: [{ model: 'good', split: 'small', predictions: rows(10, 1) }],
        baseline: 'bad',
      }),
    ).rejects.toThrow('the baseline bad is none of the models');
  });
});

describe('writeComparisonReport', () => {
  it('shows differences, tests and warnings, and offers to sort by what changed', async () => {
    const page = await written('comparison.html', (path) =>
      writeComparisonReport(path, {
        ...frame,
        baseline: { name: 'before', splits: [{ split: 'test', predictions: rows(10, -1) }] },
        candidate: { name: 'after', splits: [{ split: 'test', predictions: rows(10, 1) }] },
        significance: [
          { split: 'test', test: 'Williams', statistic: 't(7) = 9.10', p: 0.00004, verdict: 'differ' },
          { split: 'test', test: 'F', statistic: '-', verdict: 'constant residuals' },
        ],
        warnings: ['different prompts: <a> and <b>'],
      }),
    );
    expect(rowsOf(page, 'differences')[1]).toMatch(/^test after \u2212 before \+2\.000/);
    expect(text(page)).toContain('test Williams t(7) = 9.10 &lt; 0.001 differ');
    expect(text(page)).toContain('test F - – constant residuals');
    expect(page).toContain('<p class="warning">different prompts: &lt;a&gt; and &lt;b&gt;</p>');
    expect(page).toContain('<option value="better">most improved first</option>');
  });
});

it('refuses to show two pictures of one name as one', async () => {
  const of = (mos: number) => {
    const predictions = [prediction('a', mos, 3), prediction('b', 2, 2)];
    return [{ split: 'test', predictions, summary: summarize(predictions, { resamples: 50 }) }];
  };
  await expect(
    renderReport({
      ...frame,
      ...{ stages: [], comparisons: [] },
      models: [
        { name: 'x', splits: of(3) },
        { name: 'y', splits: of(4) },
      ],
    }),
  ).rejects.toThrow('picture a of "test" has the MOS 3 in one result and 4 in another');
});
