import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TemporaryFiles, temporaryFiles } from '../../evaluate/temporary-files.ts';
import { MAIN, runChild } from '../run-child.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

const correlate = (...args: string[]) => runChild(MAIN, 'eval', 'correlate', ...args, '--resamples', '0');

describe('q-ponder eval correlate', () => {
  it('compares two columns given by --pred twice, with labels from a second file', async () => {
    const path = await files.parquet([
      { name: 'image', data: ['a', 'b', 'c', 'd'], type: 'STRING' },
      { name: 'old', data: [1, 3, 2, 4], type: 'DOUBLE' },
      { name: 'new', data: [1, 2, 3, 4], type: 'DOUBLE' },
    ]);
    const labels = await files.write('image,mos\nd,4\nc,3\nb,2\na,1\n');
    const { code, stdout } = await correlate(
      ...[path, '--pred', 'old', '--pred', 'new', '--mos', 'mos', '--labels', labels, '--id', 'image'],
      ...['--fit', 'none'],
    );
    expect(code).toBe(0);
    expect(stdout.match(/^all +4 +\S+/gm)).toEqual([
      'all   4  0.8000',
      'all   4  1.0000',
      'all   4  +0.2000',
    ]);
    expect(stdout).toContain('"new" minus "old", on the same rows');
  });

  it('writes JSON, CSV, LaTeX and Markdown', async () => {
    const path = await files.write('score,mos\n1,1\n2,2\n3,3\n');
    const out = (name: string) => join(files.folder, name);
    const { code } = await correlate(
      ...[path, '--pred', 'score', '--mos', 'mos', '--fit', 'none'],
      ...['--json', out('o.json'), '--csv', out('o.csv'), '--latex', out('o.tex'), '--markdown', out('o.md')],
    );
    expect(code).toBe(0);
    const json = JSON.parse(await readFile(out('o.json'), 'utf8')) as { codeVersion: string };
    expect(json.codeVersion).toMatch(/^\d+\.\d+\.\d+/);
    expect((await readFile(out('o.csv'), 'utf8')).split('\n')[1]).toMatch(
      /^score,mos,,,3,higher-better,1,3,1,3,1,/,
    );
    expect(await readFile(out('o.tex'), 'utf8')).toContain('all & 3 & 1.0000 ');
    expect(await readFile(out('o.md'), 'utf8')).toContain('| all | 3 | 1.0000 |');
  });

  it.each([
    ['without a file', [], 2, 'files is missing'],
    ['of a file that is not there', ['x.csv', '--pred', 'a', '--mos', 'b'], 4, 'x.csv'],
  ])('%s ends with its code', async (_what, args, code, message) => {
    const ended = await correlate(...args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
