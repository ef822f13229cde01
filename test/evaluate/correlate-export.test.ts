import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseString } from 'fast-csv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CorrelateReport, correlateFiles, exportCorrelation } from '../../src/evaluate/index.ts';
import { type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
let report: CorrelateReport;
const out = (name: string): string => join(files.folder, name);
const read = (name: string): Promise<string> => readFile(out(name), 'utf8');

beforeAll(async () => {
  files = await temporaryFiles();
  const rows = ['1,1,1,a_1', '2,3,2,a_1', '3,2,3,a_1', '4,4,4,a_1', '7,1,1,b|2', '7,2,2,b|2', '7,3,3,b|2'];
  const path = await files.write(`my_score,other,mos,kind\n${rows.join('\n')}\n`, 'in.csv');
  report = await correlateFiles({
    ...{ files: [path], predictions: ['my_score', 'other'], target: 'mos', by: 'kind' },
    ...{ resamples: 0, fit: 'none', codeVersion: '1.2.3' },
  });
  await exportCorrelation(report, {
    ...{ json: out('out.json'), csv: out('out.csv'), latex: out('out.tex'), markdown: out('out.md') },
  });
});
afterAll(() => files.remove());

describe('exportCorrelation', () => {
  it('writes the whole report as JSON', async () => {
    expect(JSON.parse(await read('out.json'))).toEqual(report);
  });

  it('writes one CSV line per result, each with what identifies it', async () => {
    const rows: Record<string, string>[] = [];
    for await (const row of parseString(await read('out.csv'), { headers: true })) {
      rows.push(row as Record<string, string>);
    }
    expect(rows.map(({ prediction, group, n }) => [prediction, group, n])).toEqual([
      ['my_score', '', '7'],
      ['my_score', 'a_1', '4'],
      ['my_score', 'b|2', '3'],
      ['other', '', '7'],
      ['other', 'a_1', '4'],
      ['other', 'b|2', '3'],
    ]);
    // Ranks 1 2 3 4 against 1 2 3 4, and for "other" 1 3 2 4.
    expect(Number(rows[1]!.srcc)).toBeCloseTo(1, 12);
    expect(Number(rows[4]!.srcc)).toBeCloseTo(0.8, 12);
    expect(rows[2]).toMatchObject({ srcc: '', undefined_because: 'all 3 scores equal 7' });
    for (const row of rows) {
      expect(row).toMatchObject({
        ...{ direction: 'higher-better', code_version: '1.2.3', files_sha256: report.files[0]!.sha256 },
      });
    }
    expect(rows[1]).toMatchObject({
      prediction_min: '1',
      prediction_max: '4',
      target_min: '1',
      target_max: '4',
    });
  });

  it('writes LaTeX rows with special characters escaped, the protocol as comments', async () => {
    const lines = (await read('out.tex')).trimEnd().split('\n');
    const rows = lines.filter((line) => !line.startsWith('%'));
    expect(rows[0]).toBe('prediction & kind & n & SRCC & 95 \\% & PLCC & 95 \\% & KRCC \\\\');
    expect(rows[2]).toBe('my\\_score & a\\_1 & 4 & 1.0000 & - & 1.0000 & - & 1.0000 \\\\');
    expect(rows[3]).toBe('my\\_score & b|2 & 3 & -- & - & -- & - & -- \\\\');
    expect(lines).toContain('% code: q-ponder 1.2.3');
  });

  it('writes Markdown tables with bars escaped', async () => {
    const text = await read('out.md');
    expect(text).toContain('| a_1 | 4 | 1.0000 |');
    expect(text).toContain('| b\\|2 | 3 | undefined |');
    expect(text).toContain('### other minus my_score');
    expect(text).toContain(`SHA-256 ${report.files[0]!.sha256}`);
  });
});
