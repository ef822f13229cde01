import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataImportCommand } from '../../../src/cli/commands/data-import.ts';
import { buildProgram } from '../../../src/cli/program.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-command-'));
  await mkdir(join(folder, 'Images'));
  for (const name of ['p (1).jpg', 'p (2).jpg']) await writeFile(join(folder, 'Images', name), name);
  const table = 'image,official_split,MOS\np (1).jpg,train,0.25\np (2).jpg,test,1\n';
  await writeFile(join(folder, 'subset.csv'), table);
  const tab = table.replaceAll(',', '\t');
  await writeFile(join(folder, 'subset.tsv'), tab);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(...words: string[]): Promise<Record<string, number>> {
  const out = join(folder, 'set');
  await rm(out, { recursive: true, force: true });
  const program = buildProgram('0', [dataImportCommand]);
  const images = ['--images', join(folder, 'Images'), '--out', out, '--quiet'];
  await program.parseAsync(['data', 'import', ...words, ...images], { from: 'user' });
  const rows = (await readFile(join(out, 'records.jsonl'), 'utf8')).trim().split('\n');
  return Object.fromEntries(
    rows.map((row) => {
      const { id, mos, split } = JSON.parse(row) as { id: string; mos: number; split: string };
      return [`${id} ${split}`, mos];
    }),
  );
}

describe('data import', () => {
  const expected = { 'p (1).jpg train': 2, 'p (2).jpg test': 5 };
  const columns = [
    ...['--image-column', 'image', '--mos-column', 'MOS', '--set', 'mosRange=[0,1]'],
    ...['--set', 'splitColumn=official_split', '--set', 'validationShare=0'],
  ];

  it('imports a data set by the name of its manifest, labels found beside the images', async () => {
    expect(await run('biq2021', '--set', 'validationShare=0')).toEqual(expected);
  });

  it('imports the same from a table whose columns are named', async () => {
    expect(await run(join(folder, 'subset.csv'), ...columns)).toEqual(expected);
  });

  it('imports the same from a table in another format', async () => {
    expect(await run(join(folder, 'subset.tsv'), ...columns)).toEqual(expected);
  });

  it('refuses keys of the other form', async () => {
    await expect(run('biq2021', '--mos-column', 'MOS')).rejects.toThrow('mosColumn');
  });

  describe('what is wrong with the settings of a table comes in one answer', () => {
    const bare = async (...words: string[]): Promise<unknown> =>
      buildProgram('0', [dataImportCommand])
        .parseAsync(['data', 'import', ...words, '--quiet'], { from: 'user' })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
    const lines = (error: unknown): string[] => (error as Error).message.split('\n').slice(1).sort();

    it('keys that are missing, with the columns to choose from', async () => {
      const table = join(folder, 'subset.csv');
      expect(lines(await bare(table))).toEqual([
        '  csv: its columns are image, official_split, MOS',
        '  imageColumn is missing: give --image-column <name>',
        '  imagesFolder is missing: give --images <folder>',
        '  mosColumn is missing: give --mos-column <name>',
        '  mosRange is missing: give --mos-range <lowest,highest>',
        '  output is missing: give --out <folder>',
      ]);
    });

    it('beside columns that the table lacks, and ends of the scale that are none', async () => {
      const table = join(folder, 'subset.csv');
      const error = await bare(table, '--image-column', 'file', '--mos-range', '1,0', '--out', 'x');
      expect(lines(error)).toEqual([
        '  csv: its columns are image, official_split, MOS',
        `  imageColumn: ${table} has no column file`,
        '  imagesFolder is missing: give --images <folder>',
        '  mosColumn is missing: give --mos-column <name>',
        '  mosRange: lowest must be below highest',
      ]);
    });

    it('beside a table that is none', async () => {
      const table = join(folder, 'gone.csv');
      expect(lines(await bare(table, '--mos-column', 'm', '--out', 'x'))).toEqual([
        `  csv: reading ${table} failed (ENOENT) (no such file or folder: check the path)`,
        '  imageColumn is missing: give --image-column <name>',
        '  mosRange is missing: give --mos-range <lowest,highest>',
      ]);
    });

    it('a complete configuration fails with what is wrong with the file', async () => {
      const table = join(folder, 'gone.csv');
      await expect(run(table, ...columns)).rejects.toMatchObject({ code: 'STORAGE' });
    });
  });

  it('takes the ends of the scale as two numbers', async () => {
    const range = ['--image-column', 'image', '--mos-column', 'MOS', '--mos-range', '0,1'];
    const splits = ['--set', 'splitColumn=official_split', '--set', 'validationShare=0'];
    expect(await run(join(folder, 'subset.csv'), ...range, ...splits)).toEqual(expected);
  });

  it('names the manifests when there is none of that name', async () => {
    await expect(run('biq2022')).rejects.toMatchObject({ hint: expect.stringContaining('biq2021') });
  });
});
