import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberOf, readTable, skippedSentences } from '../../src/evaluate/tables/index.ts';
import { failureOf, type TemporaryFiles, temporaryFiles } from './temporary-files.ts';

let files: TemporaryFiles;
beforeAll(async () => {
  files = await temporaryFiles();
});
afterAll(() => files.remove());

const wanted = { required: ['score', 'mos'], optional: [] };
const cells = async (path: string, options = {}) => {
  const table = await readTable(path, wanted, options);
  return { ...table, score: table.cells.get('score'), mos: table.cells.get('mos') };
};

describe('readTable', () => {
  it('reads CSV columns by name, with places counted in lines also after a cell of two lines', async () => {
    const path = await files.write('mos,note,score\n1,"two\nlines",2\n3,x,4\n');
    expect(await cells(path)).toMatchObject({
      ...{ format: 'csv', unit: 'line', places: [2, 4], score: ['2', '4'], mos: ['1', '3'] },
      columns: ['mos', 'note', 'score'],
    });
  });

  it('reads a byte order mark, CR LF, empty lines, and the delimiter it is told', async () => {
    const path = await files.write('\uFEFFscore;mos\r\n1;2\r\n\r\n3;4\r\n');
    expect(await cells(path, { delimiter: ';' })).toMatchObject({ score: ['1', '3'], places: [2, 4] });
  });

  it('takes a tab for .tsv', async () => {
    const path = await files.write('score\tmos\n1\t2\n', 'a.tsv');
    expect(await cells(path)).toMatchObject({ score: ['1'], mos: ['2'] });
  });

  it('reads JSON Lines, and finds them by content where the name does not say', async () => {
    for (const name of ['a.jsonl', 'a.log']) {
      const path = await files.write('{"score":1.5,"mos":"2"}\n\n{"mos":3}\n', name);
      expect(await cells(path)).toMatchObject({
        ...{ format: 'jsonl', unit: 'line', places: [1, 3], score: [1.5, null], mos: ['2', 3] },
        columns: ['score', 'mos'],
      });
    }
  });

  it('lists lines of JSON Lines that are no objects', async () => {
    const path = await files.write('{"score":1,"mos":1}\n{"score":NaN,"mos":1}\n[1]\n{"sco\n', 'b.jsonl');
    expect((await readTable(path, wanted)).broken).toEqual([
      { place: 2, problem: 'holds NaN or Infinity, which JSON has not' },
      { place: 3, problem: 'not a JSON object' },
      { place: 4, problem: 'not JSON' },
    ]);
  });

  it('reads Parquet: doubles, 64-bit integers, text, and nulls', async () => {
    const path = await files.parquet([
      { name: 'score', data: [0.5, null, Number.NaN], type: 'DOUBLE' },
      { name: 'mos', data: [1n, 2n, 3n], type: 'INT64' },
      { name: 'image', data: ['a', 'b', 'c'], type: 'STRING' },
    ]);
    expect(await cells(path)).toMatchObject({
      ...{ format: 'parquet', unit: 'row', places: [1, 2, 3] },
      ...{ score: [0.5, null, Number.NaN], mos: [1n, 2n, 3n], columns: ['score', 'mos', 'image'] },
    });
  });

  it('reads Parquet that is compressed with gzip', async () => {
    const column = { data: Array.from({ length: 50 }, () => 0.25), type: 'DOUBLE' as const };
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'score', ...column },
        { name: 'mos', ...column },
      ],
      codec: 'GZIP',
      compressors: { GZIP: (content: Uint8Array) => new Uint8Array(gzipSync(content)) },
    });
    const path = await files.write(new Uint8Array(bytes), 'gzip.parquet');
    expect((await cells(path)).score).toEqual(column.data);
  });

  it('knows the SHA-256 of the bytes', async () => {
    const path = await files.write('score,mos\n1,2\n');
    const expected = createHash('sha256').update('score,mos\n1,2\n').digest('hex');
    expect((await readTable(path, wanted)).sha256).toBe(expected);
  });
});

describe('readTable refuses', () => {
  const refusal = async (text: string, name?: string, options = {}) =>
    failureOf(readTable(await files.write(text, name), wanted, options));

  it('columns that are not there, and lists those that are', async () => {
    expect(await refusal('a,mos\n1,2\n')).toMatch(/INPUT: .* has no column "score" \| columns found: a, mos/);
    expect(await refusal('{"a":1}\n', 'c.jsonl')).toMatch(/has no column "score", "mos" \| columns found: a/);
  });
  it('a column name that occurs twice', async () => {
    expect(await refusal('score,score,mos\n1,2,3\n')).toContain('has 2 columns "score"');
  });
  it('another delimiter, and names it', async () => {
    expect(await refusal('score;mos\n1;2\n')).toContain('is the delimiter ";"?');
  });
  it('files without content', async () => {
    expect(await refusal('')).toContain('is empty | a header line is needed');
    expect(await refusal('\n', 'd.jsonl')).toContain('is empty');
    expect(await refusal('xx\n[1]\n', 'e.jsonl')).toContain(
      "2 line(s) can't be read, the first is line 1 (not JSON)",
    );
  });
  it('a JSON array', async () => {
    expect(await refusal('[{"score":1}]', 'f.json')).toContain(
      'holds a JSON array | write one object per line',
    );
  });
  it.each([
    ['UTF-16', Buffer.from('\ufeffscore,mos\n1,2\n', 'utf16le'), 'is UTF-16 text'],
    ['gzip', gzipSync('score,mos\n1,2\n'), 'is compressed with gzip'],
    ['bytes', Buffer.from([1, 2, 0, 3]), 'is not text: it has zero bytes'],
  ])('%s in place of text', async (_, bytes, message) => {
    expect(await failureOf(cells(await files.write(bytes)))).toContain(message);
  });
  it('objects that run together', async () => {
    expect(await refusal('{"score":1}{"score":2}', 'run.json')).toContain(
      'one object per line, for example with jq -c .',
    );
  });
  it('unbalanced quotes', async () => {
    expect(await refusal('score,mos\n"1,2\n3,4\n')).toContain(
      'the quotes do not balance, from about line 2 on',
    );
  });
  it('a folder, and a file that does not exist', async () => {
    await mkdir(join(files.folder, 'inside'), { recursive: true });
    expect(await failureOf(readTable(join(files.folder, 'inside'), wanted))).toContain('is a folder');
    expect(await failureOf(readTable(join(files.folder, 'none.csv'), wanted))).toMatch(
      /^STORAGE: .*none\.csv/,
    );
    expect(await failureOf(readTable(join(files.folder, 'none.parquet'), wanted))).toMatch(/^STORAGE: /);
  });
  it('a Parquet file that is cut at the end, or in the middle of its data', async () => {
    const path = await files.parquet([
      { name: 'score', data: Array.from({ length: 500 }, (_, i) => i / 7), type: 'DOUBLE' },
      { name: 'mos', data: Array.from({ length: 500 }, (_, i) => i / 3), type: 'DOUBLE' },
    ]);
    const bytes = await readFile(path);
    const cut = await files.write(bytes.subarray(0, bytes.length - 100), 'cut.parquet');
    expect(await failureOf(readTable(cut, wanted))).toMatch(
      /INPUT: .*cut\.parquet can't be read as Parquet: /,
    );
    const torn = await files.write(
      Buffer.concat([bytes.subarray(0, 40), bytes.subarray(4000)]),
      'torn.parquet',
    );
    expect(await failureOf(readTable(torn, wanted))).toMatch(
      /INPUT: .*torn\.parquet can't be read as Parquet: /,
    );
  });
  it('a compression that is not known, and says which are', async () => {
    const bytes = parquetWriteBuffer({
      columnData: ['score', 'mos'].map((name) => ({
        name,
        data: [1, 1, 1, 1, 1, 1],
        type: 'DOUBLE' as const,
      })),
      codec: 'LZ4',
      compressors: { LZ4: (content: Uint8Array) => content.subarray(0, content.length - 1) },
    });
    const path = await files.write(new Uint8Array(bytes), 'lz4.parquet');
    expect(await failureOf(readTable(path, wanted))).toMatch(/codec: LZ4 \| write it with Snappy, gzip/);
  });
  it('a Parquet file without rows', async () => {
    const path = await files.parquet([
      { name: 'score', data: [], type: 'DOUBLE' },
      { name: 'mos', data: [], type: 'DOUBLE' },
    ]);
    expect(await failureOf(readTable(path, wanted))).toContain('is empty');
  });
});

describe('numberOf', () => {
  it.each([
    [1.5, 1.5],
    [12n, 12],
    [' -.5 ', -0.5],
    ['1e1', 10],
    ['+3.', 3],
  ])('reads %s', (cell, value) => {
    expect(numberOf(cell)).toBe(value);
  });
  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    [null, 'empty'],
    ['1,5', 'not-a-number'],
    ['0x10', 'not-a-number'],
    ['n/a', 'not-a-number'],
    [true, 'not-a-number'],
    [[1], 'not-a-number'],
    ['NaN', 'not-finite'],
    ['-inf', 'not-finite'],
    ['1e999', 'not-finite'],
    [Number.NaN, 'not-finite'],
  ])('refuses %s', (cell, kind) => {
    expect(numberOf(cell)).toMatchObject({ kind });
  });
});

describe('skippedSentences', () => {
  const row = (place: number, kind: 'empty' | 'not-a-number', found = '') =>
    ({ file: 'a.csv', place, unit: 'line', column: 'mos', kind, found }) as const;

  it('says each problem of a column once, with the count and the places', () => {
    expect(skippedSentences([row(2, 'empty'), row(5, 'not-a-number', '"x"'), row(9, 'empty')])).toEqual([
      'a.csv: "mos" is empty in 2 rows, left out: lines 2, 9',
      'a.csv: "mos" is not a number in 1 row, left out: line 5 ("x")',
    ]);
  });
  it('names the first eight places of many', () => {
    const many = Array.from({ length: 20 }, (_, i) => row(i + 2, 'empty'));
    expect(skippedSentences(many)).toEqual([
      'a.csv: "mos" is empty in 20 rows, left out: lines 2, 3, 4, 5, 6, 7, 8, 9 and 12 more',
    ]);
  });
});
