import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, StorageError } from '../../../src/core/index.ts';
import { cellAt, numberOf, readLabelTable, type TableLayout } from '../../../src/data/readers/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tables-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = async (name: string, content: string | Uint8Array, layout: TableLayout = {}) => {
  const path = join(folder, name);
  await writeFile(path, content);
  return readLabelTable(path, layout);
};

describe('readLabelTable', () => {
  it('reads CSV with a byte order mark, quoted commas, unnamed columns and CRLF', async () => {
    const { columns, rows } = await read('a.csv', '\uFEFFname,MOS,,\r\n"b, (1).jpg",0.5,,\r\n');
    expect(columns).toEqual(['name', 'MOS']);
    expect(rows).toEqual([{ place: 2, cells: { name: 'b, (1).jpg', MOS: '0.5' } }]);
  });

  it('gives columns names where there is no header', async () => {
    const { rows } = await read('b.csv', 't1.bmp,18.3,63.9\n', { columns: ['image', 'std', 'mos'] });
    expect(rows).toEqual([{ place: 1, cells: { image: 't1.bmp', std: '18.3', mos: '63.9' } }]);
  });

  it('marks a row with more cells than columns', async () => {
    const { rows } = await read('c.csv', 'a,b\n1,2,3\n');
    expect(rows[0]?.problem).toBe('it has more cells than there are columns: 3');
  });

  it.each([
    ['spaces', 'A.bmp   1.5\nB.bmp\t2\n', undefined],
    ['lone carriage returns', 'A.bmp\t1.5\rB.bmp\t2', undefined],
    ['commas with spaces', 'A.bmp, 1.5\nB.bmp, 2\n', ','],
  ])('reads txt with %s', async (_what, content, separator) => {
    const { rows } = await read('d.txt', content, { columns: ['image', 'mos'], separator });
    expect(rows.map(({ cells }) => cells)).toEqual([
      { image: 'A.bmp', mos: '1.5' },
      { image: 'B.bmp', mos: '2' },
    ]);
  });

  it('reads a list of objects at a path of a JSON document', async () => {
    const { rows } = await read('e.json', '{"data":{"rows":[{"image":["x.png"],"m":3}]}}', {
      rows: 'data.rows',
    });
    expect(cellAt(rows[0]!.cells, 'image[-1]')).toBe('x.png');
  });

  it('keeps going after a broken JSON line and says which', async () => {
    const { rows } = await read('f.jsonl', '{"a":1}\n\n{"a":\n[1]\n');
    expect(rows.map(({ place, problem }) => [place, problem?.slice(0, 14)])).toEqual([
      [1, undefined],
      [3, 'it is not JSON'],
      [4, 'it is not a JS'],
    ]);
  });

  it('reads Parquet and leaves out columns of raw bytes', async () => {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'image', data: ['a.png', 'b.png'], type: 'STRING' },
        { name: 'mos', data: [1.5, 2.5], type: 'DOUBLE' },
        { name: 'pixels', data: [Uint8Array.of(1), Uint8Array.of(2)], type: 'BYTE_ARRAY' },
      ],
    });
    const { columns, rows } = await read('g.parquet', new Uint8Array(buffer));
    expect(columns).toEqual(['image', 'mos']);
    expect(rows[1]).toEqual({ place: 2, cells: { image: 'b.png', mos: 2.5 } });
  });

  it.each([
    ['h.parquet', 'PAR1 no more'],
    ['h.xlsx', 'PK no zip'],
    ['h.mat', 'MATLAB 5.0 and nothing'],
    ['h.json', '{"a":'],
    ['h.json', '{"a":1}'],
    ['h.csv', ''],
    ['h.csv', 'a,a\n1,2\n'],
    ['h.labels', 'a b\n'],
  ])('refuses %s that holds %j as an InputError', async (name, content) => {
    await expect(read(name, content)).rejects.toBeInstanceOf(InputError);
  });

  it('calls an absent file a StorageError', async () => {
    await expect(readLabelTable(join(folder, 'absent.csv'))).rejects.toBeInstanceOf(StorageError);
  });
});

describe('cells', () => {
  it('prefers a name to a path', () => {
    expect(cellAt({ 'a.b': 1, a: { b: 2 } }, 'a.b')).toBe(1);
  });

  it('does not find what objects inherit', () => {
    expect(cellAt({ a: {} }, 'a.constructor')).toBeUndefined();
  });

  it.each([
    ['1e2', 100],
    [' 4.5 ', 4.5],
    ['.5', 0.5],
    [7, 7],
    ['0x10', undefined],
    ['1,5', undefined],
    ['', undefined],
    ['NaN', undefined],
    [Number.NaN, undefined],
    [true, undefined],
    [null, undefined],
  ])('reads %j as %j', (cell, value) => {
    expect(numberOf(cell)).toBe(value);
  });
});
