import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ColumnSource, parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodePng } from '../../src/data/decode.ts';
import { importCsv } from '../../src/data/import-csv.ts';
import { importCsvConfigSchema } from '../../src/data/import-csv-config.ts';
import { loadDataset } from '../../src/data/load.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pictures-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const png = async (value: number): Promise<Uint8Array> =>
  encodePng({ data: Uint8Array.of(value, value, value), width: 1, height: 1 });

interface Cell {
  bytes: Uint8Array | null;
  path: string | null;
}

/** As Hugging Face's data sets are written: a struct {bytes: binary, path: string}, two rows in a row group. */
async function writeStructs(name: string, cells: readonly Cell[]): Promise<string> {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: 2 },
    { name: 'image', num_children: 2, repetition_type: 'OPTIONAL' },
    { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
    { name: 'path', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    { name: 'mos', type: 'DOUBLE', repetition_type: 'REQUIRED' },
  ];
  const columnData: ColumnSource[] = [
    { name: 'image', data: cells as unknown[] },
    { name: 'mos', data: cells.map((_, i) => 10 * i) },
  ];
  const path = join(folder, name);
  await writeFile(path, new Uint8Array(parquetWriteBuffer({ columnData, schema, rowGroupSize: 2 })));
  return path;
}

async function run(csv: string, settings: object = {}) {
  const output = join(folder, 'set');
  await rm(output, { recursive: true, force: true });
  const config = importCsvConfigSchema.parse({
    csv,
    imageColumn: 'image',
    mosColumn: 'mos',
    mosRange: [0, 100],
    output,
    testShare: 0,
    validationShare: 0,
    ...settings,
  });
  return { config, summary: await importCsv(config), ...(await loadDataset(output)) };
}

describe('importing a table that holds the pictures', () => {
  it('writes the bytes as they are, beside records with the labels of the same row', async () => {
    const pictures = await Promise.all([1, 2, 3, 4, 5].map(png));
    const csv = await writeStructs(
      'whole.parquet',
      pictures.map((bytes, i) => ({ bytes, path: `p${i}.png` })),
    );
    const { records, images } = await run(csv);
    expect(records.map(({ image, mosSource }) => [image, mosSource?.value])).toEqual([
      ['images/p0.png', 0],
      ['images/p1.png', 10],
      ['images/p2.png', 20],
      ['images/p3.png', 30],
      ['images/p4.png', 40],
    ]);
    for (const [i, path] of images.entries()) expect(await readFile(path)).toEqual(Buffer.from(pictures[i]!));
  });

  it('reads a column of plain bytes too, and names its pictures by row and by what they are', async () => {
    const path = join(folder, 'plain.parquet');
    const columnData = [
      { name: 'image', data: [await png(1), await png(2)], type: 'BYTE_ARRAY' as const },
      { name: 'mos', data: [1, 2], type: 'DOUBLE' as const },
    ];
    await writeFile(path, new Uint8Array(parquetWriteBuffer({ columnData })));
    const { records } = await run(path);
    expect(records.map(({ id }) => id)).toEqual(['row-000001.png', 'row-000002.png']);
  });

  it('keeps every name inside the folder, and names apart that are taken or differ in case alone', async () => {
    const bytes = await Promise.all([1, 2, 3, 4].map(png));
    const paths = ['../../../etc/a.jpg', 'x\\A.png', null, 'c:"?.png'];
    const csv = await writeStructs(
      'names.parquet',
      bytes.map((one, i) => ({ bytes: one, path: paths[i]! })),
    );
    const { records } = await run(csv);
    expect(records.map(({ id }) => id)).toEqual(['a.png', 'A-row-000002.png', 'row-000003.png', 'c___.png']);
    expect((await readdir(join(folder, 'set', 'images'))).length).toBe(4);
  });

  it('puts equal pictures into one group', async () => {
    const bytes = await png(9);
    const cells = [1, 2].map((i) => ({ bytes, path: `${i}.png` }));
    const { records } = await run(await writeStructs('same.parquet', cells));
    expect(records[0]?.group).toBe(records[1]?.group);
  });

  it('names the rows without a picture, and leaves nothing behind', async () => {
    const cells = [
      { bytes: await png(1), path: 'a.png' },
      { bytes: null, path: 'b.png' },
      { bytes: Buffer.from('<html>not found</html>'), path: 'c.png' },
    ];
    const csv = await writeStructs('bad.parquet', cells);
    await expect(run(csv)).rejects.toThrow(
      /row 2: image holds no picture\n {2}row 3: image holds bytes that are no picture/,
    );
    expect(await readdir(folder)).not.toContain('set');
    const { summary, records } = await run(csv, { badRows: 'skip' });
    expect(summary.badRows.map(({ row }) => row)).toEqual([2, 3]);
    expect(records.map(({ id }) => id)).toEqual(['a.png']);
    expect(await readdir(join(folder, 'set', 'images'))).toEqual(['a.png']);
  });

  it('replaces an older import of its own, and none with another file among the pictures', async () => {
    const csv = await writeStructs('again.parquet', [{ bytes: await png(1), path: 'a.png' }]);
    const { config } = await run(csv);
    await expect(importCsv(config)).resolves.toMatchObject({ counts: { train: 1 } });
    await writeFile(join(folder, 'set', 'images', 'mine.txt'), 'mine');
    await expect(importCsv(config)).rejects.toThrow(/images\/mine\.txt/);
  });
});
