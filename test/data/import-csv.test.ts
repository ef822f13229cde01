import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, InputError } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/decode.ts';
import { importCsv } from '../../src/data/import-csv.ts';
import { importCsvConfigSchema } from '../../src/data/import-csv-config.ts';
import { loadDataset, loadPixels } from '../../src/data/load.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'));
  await mkdir(join(folder, 'images'));
  for (let i = 0; i < 10; i++) {
    const image = { data: Uint8Array.of(i, i, i), width: 1, height: 1 };
    await writeFile(join(folder, 'images', `p (${i}).png`), await encodePng(image));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = async (table: string, settings: object = {}) => {
  await writeFile(join(folder, 'table.csv'), table);
  const config = importCsvConfigSchema.parse({
    csv: join(folder, 'table.csv'),
    imageColumn: 'name',
    mosColumn: 'mos',
    imagesFolder: join(folder, 'images'),
    mosRange: [0, 100],
    output: join(folder, 'set'),
    validationShare: 0,
    testShare: 0,
    ...settings,
  });
  const summary = await importCsv(config);
  return { summary, ...(await loadDataset(config.output)) };
};

describe('importCsv', () => {
  it('rescales to 1..5', async () => {
    const { records } = await run('name,mos\np (0).png,0\np (1).png,100\np (2).png,25\n');
    expect(records.map(({ mos }) => mos)).toEqual([1, 5, 2]);
    expect(records[2]?.mosSource).toEqual({ value: 25, range: [0, 100], direction: 'higher' });
  });

  it('turns scales round where lower is better', async () => {
    const { records } = await run('name,mos\np (0).png,0\np (2).png,25\n', { direction: 'lower' });
    expect(records.map(({ mos }) => mos)).toEqual([5, 4]);
  });

  it('rescales deviations by the same factor', async () => {
    const { records } = await run('name,mos,sd\np (0).png,3,0.5\n', { stdColumn: 'sd', mosRange: [0, 10] });
    expect(records[0]?.mosStd).toBeCloseTo(0.2, 12);
  });

  it.each(['relative', 'absolute'] as const)('leaves the images in place, %s paths', async (paths) => {
    const { records } = await run('name,mos\np (7).png,1\n', { paths });
    expect((await loadPixels(records, join(folder, 'set')))[0]?.data[0]).toBe(7);
  });

  it('reads quoted cells, a byte order mark and unnamed columns', async () => {
    const { records } = await run('\uFEFF"name",mos,,\n"p (3).png","50",,\n');
    expect(records.map(({ id, mos }) => [id, mos])).toEqual([['p (3).png', 3]]);
  });

  it('keeps named splits and takes validation from training rows alone', async () => {
    const rows = Array.from({ length: 10 }, (_, i) => `p (${i}).png,${i},${i < 8 ? 'Train' : 'test'}`);
    const settings = { splitColumn: 'part', validationShare: 0.25 };
    const { summary, records } = await run(`name,mos,part\n${rows.join('\n')}\n`, settings);
    expect(summary.counts).toEqual({ train: 6, validation: 2, test: 2, cross: 0 });
    expect(records.filter(({ split }) => split === 'test').map(({ id }) => id)).toEqual([
      'p (8).png',
      'p (9).png',
    ]);
  });

  it('deals out validation and test by seed where there is no split column', async () => {
    const table = `name,mos\n${Array.from({ length: 10 }, (_, i) => `p (${i}).png,${i}`).join('\n')}\n`;
    const settings = { testShare: 0.3, validationShare: 0.3, seed: 4 };
    const { summary, records } = await run(table, settings);
    // Test 3 of 10, then validation 0.3 of the 7 left, rounded.
    expect(summary.counts).toEqual({ train: 5, validation: 2, test: 3, cross: 0 });
    expect((await run(table, settings)).records).toEqual(records);
  });

  const bad = [
    'name,mos',
    'p (0).png,50',
    'p (1).png,abc',
    'gone.png,3',
    'p (2).png,101',
    ',4',
    'p (0).png,9',
    'p (3).png,',
  ].join('\n');

  it('lists every bad row by its number', async () => {
    const error: unknown = await run(bad).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(InputError);
    const lines = (error as InputError).message.split('\n');
    expect(lines[0]).toMatch(/6 of 7 rows cannot be used/);
    expect(lines.slice(1)).toEqual([
      '  row 3: mos is "abc", not a number',
      `  row 4: image ${join(folder, 'images', 'gone.png')} cannot be read`,
      '  row 5: mos 101 lies outside 0 to 100',
      '  row 6: column name is empty',
      '  row 7: image p (0).png is listed twice, first in row 2',
      '  row 8: mos is "", not a number',
    ]);
  });

  it('skips bad rows when asked to, and says so', async () => {
    const { summary, records } = await run(bad, { badRows: 'skip' });
    expect(records.length).toBe(1);
    expect(summary.badRows.map(({ row }) => row)).toEqual([3, 4, 5, 6, 7, 8]);
  });

  it('names all columns that are missing, and those there are', async () => {
    const missing = run('file,score\na,1\n');
    await expect(missing).rejects.toThrow(/no column name, mos/);
    await expect(missing).rejects.toMatchObject({
      hint: 'its columns are file, score; name one with --image-column, --mos-column',
    });
  });

  it('refuses a table without rows and a missing table', async () => {
    await expect(run('name,mos\n')).rejects.toThrow(/no rows below its header/);
    await expect(run('name,mos\n', { csv: join(folder, 'none.csv') })).rejects.toMatchObject({
      code: 'STORAGE',
    });
  });

  it('does not write over a folder of other things', async () => {
    await expect(run('name,mos\np (0).png,1\n', { output: join(folder, 'images') })).rejects.toBeInstanceOf(
      ConfigError,
    );
  });
});

/** What came of an import that should fail. */
const failure = async (table: string, settings: object = {}): Promise<{ message: string; hint?: string }> =>
  run(table, settings).then(
    () => ({ message: '(no error)' }),
    (error: Error) => error,
  );

describe('the output folder', () => {
  const table = 'name,mos\np (0).png,50\n';
  const output = (name: string) => ({ output: join(folder, name) });

  it('an older import is replaced', async () => {
    await run(table, output('twice'));
    const { records } = await run('name,mos\np (1).png,50\n', output('twice'));
    expect(records.map(({ id }) => id)).toEqual(['p (1).png']);
  });

  it('an older import with anything else in it is not, and nothing is lost', async () => {
    await run(table, output('shared'));
    await mkdir(join(folder, 'shared', 'photos'));
    await writeFile(join(folder, 'shared', 'photos', 'a.jpg'), 'precious');
    await writeFile(join(folder, 'shared', 'notes.txt'), 'precious');
    const again = run(table, output('shared'));
    await expect(again).rejects.toMatchObject({
      exitCode: 2,
      message: `${join(folder, 'shared')} will not be replaced: it holds notes.txt, photos, which this command did not write`,
    });
    expect(await readFile(join(folder, 'shared', 'photos', 'a.jpg'), 'utf8')).toBe('precious');
    expect((await readdir(join(folder, 'shared'))).sort()).toEqual([
      'dataset.json',
      'notes.txt',
      'photos',
      'records.jsonl',
    ]);
  });

  it('records that were edited since are not replaced', async () => {
    await run(table, output('edited'));
    await writeFile(join(folder, 'edited', 'records.jsonl'), '{}');
    await expect(run(table, output('edited'))).rejects.toThrow(
      'records.jsonl was changed since it was written',
    );
  });

  it.each([
    ['no dataset.json', '{}', 'records.jsonl', 'it has no dataset.json'],
    [
      'another command’s dataset.json',
      '{"generatorVersion": "1"}',
      'dataset.json',
      'another command made it',
    ],
    ['a broken dataset.json', '{', 'dataset.json', 'dataset.json is not what this command writes'],
  ])('a folder with %s is refused', async (_what, content, name, reason) => {
    const made = await mkdtemp(join(folder, 'like-'));
    await writeFile(join(made, 'records.jsonl'), '');
    await writeFile(join(made, name), content);
    await expect(run(table, { output: made })).rejects.toMatchObject({
      exitCode: 2,
      message: `${made} will not be replaced: ${reason}`.replace(
        'it has no',
        'it is no data set of this command: it has no',
      ),
    });
  });

  it('images or table inside it are refused, also behind a link', async () => {
    const inner = await mkdtemp(join(folder, 'inner-'));
    await symlink(inner, join(folder, 'link'));
    for (const place of [inner, join(folder, 'link')]) {
      await expect(run(table, { output: place, imagesFolder: join(inner, 'images') })).rejects.toThrow(
        /^imagesFolder .* lies in the output folder .*, which is replaced$/,
      );
    }
    await expect(run(table, { output: folder })).rejects.toThrow(/^csv .* lies in the output folder/);
    await expect(run(table, { output: join(folder, 'images') })).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe('images that belong together', () => {
  /** twin (a).png and twin (b).png have the bytes of p (0).png. */
  beforeAll(async () => {
    const bytes = await readFile(join(folder, 'images', 'p (0).png'));
    for (const name of ['a', 'b']) await writeFile(join(folder, 'images', `twin (${name}).png`), bytes);
  });
  const names = [...Array.from({ length: 10 }, (_, i) => `p (${i}).png`), 'twin (a).png', 'twin (b).png'];

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('equal files never split, seed %i', async (seed) => {
    const table = `name,mos\n${names.map((name, i) => `${name},${i}`).join('\n')}\n`;
    const { records, summary } = await run(table, { testShare: 0.25, validationShare: 0.3, seed });
    const twins = records.filter(({ id }) => id.startsWith('twin') || id === 'p (0).png');
    expect(new Set(twins.map(({ split }) => split)).size).toBe(1);
    expect(new Set(twins.map(({ group }) => group)).size).toBe(1);
    expect(new Set(records.map(({ group }) => group)).size).toBe(10);
    // 0.25 of 12, then 0.3 of 9 rounded; a group of three fits into either.
    expect([summary.counts.test, summary.counts.validation]).toEqual([3, 3]);
    expect(summary.notes).toContain('3 images form 1 group(s) of several; each group stays in one split');
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'nor do groups of the table, nor what a shared file joins, seed %i',
    async (seed) => {
      // Scenes of two; scene 0 and scene T are joined by equal files.
      const scene = (name: string, i: number) => (name.startsWith('twin') ? 'T' : `${i >> 1}`);
      const table = `name,mos,scene\n${names.map((name, i) => `${name},${i},${scene(name, i)}`).join('\n')}\n`;
      const { records } = await run(table, { testShare: 0.34, seed, groupColumn: 'scene' });
      const splitsOf = new Map<string, Set<string>>();
      for (const [i, { id, split }] of records.entries()) {
        const key = scene(id, i) === 'T' ? '0' : scene(id, i);
        splitsOf.set(key, (splitsOf.get(key) ?? new Set()).add(split));
      }
      expect([...splitsOf.keys()].sort()).toEqual(['0', '1', '2', '3', '4']);
      for (const splits of splitsOf.values()) expect(splits.size).toBe(1);
      expect(records.filter(({ split }) => split === 'test')).toHaveLength(4);
    },
  );

  const official =
    'name,mos,part\np (0).png,1,train\ntwin (a).png,2,test\np (1).png,60,train\ntwin (b).png,4,test\n';

  it('equal files in different official splits are listed', async () => {
    const { message, hint } = await failure(official, { splitColumn: 'part' });
    expect(message.split('\n').slice(1)).toEqual([
      '  p (0).png, twin (a).png, twin (b).png in train and test',
    ]);
    expect(hint).toContain('--set allowDuplicates=true');
  });

  it('and imported all the same when asked to, as a set that loads', async () => {
    const { records } = await run(official, { splitColumn: 'part', allowDuplicates: true });
    expect(records.map(({ split }) => split)).toEqual(['train', 'test', 'train', 'test']);
    expect(records[1]?.group).toBe(records[3]?.group);
    expect(records[1]?.group).not.toBe(records[0]?.group);
  });

  it('a group in two official splits is refused', async () => {
    const table = 'name,mos,part,scene\np (1).png,1,train,s\np (2).png,60,test,s\np (3).png,3,test,t\n';
    const { message } = await failure(table, { splitColumn: 'part', groupColumn: 'scene' });
    expect(message.split('\n').slice(1)).toEqual(['  group s lies in train and test']);
  });

  it('a share that no whole group fits is said to be missed', async () => {
    const table = 'name,mos,scene\np (1).png,1,s\np (2).png,60,s\np (3).png,3,s\np (4).png,3,s\n';
    const { summary } = await run(table, { testShare: 0.5, groupColumn: 'scene' });
    expect(summary.counts.test).toBe(0);
    expect(summary.notes).toContain('test has 0 of the 2 images asked for: no more whole groups fit');
  });

  it('an empty cell in the group column is a bad row', async () => {
    const { message } = await failure('name,mos,scene\np (1).png,1,\n', { groupColumn: 'scene' });
    expect(message).toContain('row 2: column scene is empty');
  });
});

describe('tables that are not what they should be', () => {
  it.each([
    ['0x10', false],
    ['1_000', false],
    ['Infinity', false],
    ['12,5', false],
    ['.5', true],
    ['5.', true],
    ['+1e1', true],
    ['-0', true],
  ])('"%s" is a decimal number: %s', async (cell, decimal) => {
    const ended = await failure(`name,mos\np (0).png,"${cell}"\n`);
    expect(ended.message).toContain(decimal ? '(no error)' : `mos is "${cell}", not a number`);
  });

  it('repeated column names are refused, unnamed ones are not', async () => {
    expect((await failure('name,mos,mos,,\np (0).png,1,2,,\n')).message).toMatch(
      /several columns named mos$/,
    );
  });

  it.each([';', '\t', '|'])('a decimal comma in a table separated by "%s"', async (sign) => {
    const { message } = await failure(`name${sign}mos\np (0).png${sign}1,5\n`);
    expect(message).toContain('row 2: mos is "1,5", not a number (write a decimal point)');
  });

  it('an empty file', async () => {
    expect((await failure('')).message).toBe(`${join(folder, 'table.csv')} is empty (0 bytes)`);
  });

  it('a row with an unquoted comma', async () => {
    const { message } = await failure('name,mos\np (0).png,1,5\n');
    expect(message).toContain('row 2: it has more cells than there are columns: 5');
  });

  it('one image under two names', async () => {
    expect((await failure('name,mos\np (0).png,1\n./p (0).png,99\n')).message).toContain(
      'row 3: image ./p (0).png is listed twice',
    );
  });

  it.each([
    [
      ['40', '49.9'],
      [
        'mos runs from 40 to 49.9, less than 10 % of the scale 0 to 100: check --set mosRange=[lowest,highest]',
      ],
    ],
    [['40', '50'], []],
  ])('scores %j on a scale of 100', async (scores, notes) => {
    const { summary } = await run(`name,mos\n${scores.map((mos, i) => `p (${i}).png,${mos}`).join('\n')}\n`);
    expect(summary.notes).toEqual(notes);
  });
});

const biq = join(import.meta.dirname, '../../../shared/data/biq2021');
const present = existsSync(join(biq, 'subset.csv'));
if (!present) console.log('skipped: import of BIQ2021, shared/data/biq2021 is not there');

describe.runIf(present)('BIQ2021', () => {
  it('imports 1,000 training and 250 test photographs', async () => {
    const summary = await importCsv(
      importCsvConfigSchema.parse({
        csv: join(biq, 'subset.csv'),
        imageColumn: 'image',
        mosColumn: 'MOS',
        splitColumn: 'official_split',
        imagesFolder: join(biq, 'Images'),
        mosRange: [0, 1],
        output: join(folder, 'biq'),
      }),
    );
    expect(summary.counts).toEqual({ train: 900, validation: 100, test: 250, cross: 0 });
    const { records } = await loadDataset(join(folder, 'biq'));
    // The table's first two rows: 0.0000 and 0.0579.
    expect(records.slice(0, 2).map(({ id, mos }) => [id, mos])).toEqual([
      ['ss03 (1889).jpg', 1],
      ['ss03 (1992).jpg', 1 + 4 * 0.0579],
    ]);
    const [first] = await loadPixels(records.slice(0, 1), join(folder, 'biq'));
    expect([first?.width, first?.height]).toEqual([512, 512]);
  });
});
