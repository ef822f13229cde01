import { writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { InputError, Rng, StorageError, sha256OfFile, writeFolderAtomic, writeJsonl } from '../core/index.ts';
import { assignGroups, type Imported, moveGroups } from './import-groups.ts';
import { readTable, type TableRow, type WantedColumn } from './import-table.ts';
import { inParallel } from './load.ts';
import { DATASET_FILE, type ImageRecord, RECORDS_FILE, type Split } from './records.ts';
import { checkReplaceable, type OwnFiles } from './replace.ts';

const share = z.number().min(0).max(0.9);

/** Configuration of an import. Unknown keys fail. */
export const importCsvConfigSchema = z
  .strictObject({
    csv: z.string().min(1).describe('table with a header row, one image a row'),
    imageColumn: z.string().min(1).describe('column with the file name'),
    mosColumn: z.string().min(1).describe('column with the mean opinion score'),
    stdColumn: z.string().min(1).optional().describe('column with the standard deviation of the ratings'),
    splitColumn: z.string().min(1).optional().describe('column with train, validation or test'),
    groupColumn: z
      .string()
      .min(1)
      .optional()
      .describe('column that names what images have in common (scene, reference, person): one split for all'),
    imagesFolder: z.string().min(1).describe('folder the file names are relative to'),
    mosRange: z.tuple([z.number(), z.number()]).describe('lowest and highest possible score of the scale'),
    direction: z.enum(['higher', 'lower']).default('higher').describe('which end of the scale is better'),
    output: z.string().min(1).describe('folder to write the data set to; the images stay where they are'),
    name: z
      .string()
      .min(1)
      .optional()
      .describe('name of the data set, default the name of the output folder'),
    paths: z.enum(['relative', 'absolute']).default('relative').describe('how records refer to the images'),
    validationShare: share
      .default(0.1)
      .describe('share of the training rows moved to validation, where the table names no validation rows'),
    testShare: share.default(0.2).describe('share of the rows used as test, where there is no split column'),
    allowDuplicates: z
      .boolean()
      .default(false)
      .describe('import equal files though the split column puts them into different splits'),
    badRows: z.enum(['fail', 'skip']).default('fail').describe('what to do when some rows cannot be used'),
    seed: z.number().int().default(0).describe('decides which rows are moved'),
  })
  .refine(({ mosRange: [low, high] }) => low < high, {
    path: ['mosRange'],
    error: 'lowest must be below highest',
  });

export type ImportCsvConfig = z.infer<typeof importCsvConfigSchema>;

export interface BadRow {
  /** Row of the table, the header being row 1. */
  row: number;
  problem: string;
}

export interface ImportSummary {
  output: string;
  counts: Record<Split, number>;
  badRows: BadRow[];
  /** What is worth knowing about the table, one sentence each. */
  notes: string[];
}

const SPLIT_NAMES: Readonly<Record<string, Split>> = {
  train: 'train',
  training: 'train',
  val: 'validation',
  valid: 'validation',
  validation: 'validation',
  test: 'test',
  testing: 'test',
};

/** Below this share of the scale, scores that were given with another scale in mind are more likely than dull images. */
const LEAST_SPAN = 0.1;

/**
 * Brings a table of scores into the data set format: MOS rescaled linearly to [1, 5] with higher better,
 * records.jsonl that refers to the images in place. Bad rows are collected and reported together. The output
 * folder replaces an older import with nothing else in it, but no other folder.
 */
export async function importCsv(config: ImportCsvConfig): Promise<ImportSummary> {
  const own: OwnFiles = {
    names: [DATASET_FILE, RECORDS_FILE],
    mark: 'importedFrom',
    reads: { csv: config.csv, imagesFolder: config.imagesFolder },
  };
  await checkReplaceable(config.output, own);
  const rows = await readTable(config.csv, wantedColumns(config));
  if (rows.length === 0) throw new InputError(`${config.csv} has no rows below its header`);
  const { images, badRows } = await readImages(rows, config);
  if (badRows.length > 0 && (config.badRows === 'fail' || images.length === 0)) {
    throw unusable(config.csv, badRows, rows.length);
  }
  const records = images.map(({ record }) => record);
  assignGroups(images, {
    csv: config.csv,
    allowDuplicates: config.allowDuplicates,
    official: config.splitColumn !== undefined,
  });
  const notes = [...spanNotes(records, config), ...groupNotes(records), ...assignSplits(records, config)];
  await writeFolderAtomic(config.output, async (folder) => {
    await writeJsonl(join(folder, RECORDS_FILE), records);
    const { output: _, ...settings } = config;
    const info = {
      name: records[0]?.dataset,
      importedFrom: basename(config.csv),
      settings,
      recordsSha256: await sha256OfFile(join(folder, RECORDS_FILE)),
    };
    await writeFile(join(folder, DATASET_FILE), `${JSON.stringify(info, null, 2)}\n`);
    // Something may have been put there in the meantime.
    await checkReplaceable(config.output, own);
  });
  const count = (split: Split) => records.filter((record) => record.split === split).length;
  const counts = { train: count('train'), validation: count('validation'), test: count('test'), cross: 0 };
  return { output: config.output, counts, badRows, notes };
}

function wantedColumns(config: ImportCsvConfig): WantedColumn[] {
  const columns: [string | undefined, string][] = [
    [config.imageColumn, '--image-column'],
    [config.mosColumn, '--mos-column'],
    [config.stdColumn, '--set stdColumn=<name>'],
    [config.splitColumn, '--set splitColumn=<name>'],
    [config.groupColumn, '--set groupColumn=<name>'],
  ];
  return columns.flatMap(([name, setting]) => (name === undefined ? [] : [{ name, setting }]));
}

/** The usable rows as records in the table's order, and what is wrong with the others. */
async function readImages(
  rows: readonly TableRow[],
  config: ImportCsvConfig,
): Promise<{ images: Imported[]; badRows: BadRow[] }> {
  const badRows: BadRow[] = [];
  const found: (Imported & { row: number; path: string })[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    const read = readRow(row, config, seen);
    if (typeof read === 'string') badRows.push({ row: row.row, problem: read });
    else found.push({ ...read, row: row.row, sha256: '' });
  }
  const unreadable = new Set<number>();
  await inParallel(found.length, 8, async (i) => {
    const image = found[i]!;
    try {
      image.sha256 = await sha256OfFile(image.path);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      unreadable.add(image.row);
      badRows.push({ row: image.row, problem: `image ${image.path} cannot be read` });
    }
  });
  badRows.sort((a, b) => a.row - b.row);
  return { images: found.filter(({ row }) => !unreadable.has(row)), badRows };
}

function unusable(csv: string, badRows: readonly BadRow[], rows: number): InputError {
  const listed = badRows.slice(0, 20).map(({ row, problem }) => `  row ${row}: ${problem}`);
  const more = badRows.length > 20 ? [`  ... and ${badRows.length - 20} more`] : [];
  return new InputError(
    [`${csv}: ${badRows.length} of ${rows} rows cannot be used:`, ...listed, ...more].join('\n'),
    {
      hint:
        badRows.length < rows
          ? 'mend these rows, or import the others with --set badRows=skip'
          : 'check --images, --mos-column and --set mosRange=[lowest,highest] against the table',
    },
  );
}

/** The record of a row with the path of its image, or what is wrong with the row. */
function readRow(
  { cells, surplus }: TableRow,
  config: ImportCsvConfig,
  seen: Set<string>,
): (Pick<Imported, 'record' | 'group'> & { path: string }) | string {
  if (surplus.length > 0) return `it has more cells than the header: ${surplus.join(', ')}`;
  const name = cells[config.imageColumn] ?? '';
  if (name === '') return `column ${config.imageColumn} is empty`;
  const path = resolve(config.imagesFolder, name);
  if (seen.has(path)) return `image ${name} is listed twice`;
  const [low, high] = config.mosRange;
  const value = numberOf(cells[config.mosColumn]);
  if (value === undefined) return `${config.mosColumn} is "${cells[config.mosColumn]}", not a number`;
  if (value < low || value > high) return `${config.mosColumn} ${value} lies outside ${low} to ${high}`;
  const splitName = config.splitColumn === undefined ? 'train' : (cells[config.splitColumn] ?? '');
  const split = SPLIT_NAMES[splitName.toLowerCase()];
  if (split === undefined) return `split "${splitName}" is none of ${Object.keys(SPLIT_NAMES).join(', ')}`;
  const std = config.stdColumn === undefined ? null : numberOf(cells[config.stdColumn]);
  if (std === undefined || (std !== null && std < 0))
    return `${config.stdColumn} is not a number of 0 or more`;
  const group = config.groupColumn === undefined ? null : (cells[config.groupColumn] ?? '');
  if (group === '') return `column ${config.groupColumn} is empty`;
  seen.add(path);
  const fraction = (value - low) / (high - low);
  const record: ImageRecord = {
    id: name,
    image: config.paths === 'absolute' ? path : relative(resolve(config.output), path),
    dataset: config.name ?? basename(resolve(config.output)),
    split,
    mos: 1 + 4 * (config.direction === 'higher' ? fraction : 1 - fraction),
    mosStd: std === null ? null : (4 * std) / (high - low),
    raters: null,
    distortions: [],
    content: null,
    group: group ?? name,
    source: 'imported',
    generator: null,
    mosSource: { value, range: [low, high], direction: config.direction },
  };
  return { record, group, path };
}

/** Decimal numbers only: JavaScript would read 0x10 as 16 and an empty cell as 0. */
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function numberOf(text: string | undefined): number | undefined {
  const value = text !== undefined && DECIMAL.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

function spanNotes(
  records: readonly ImageRecord[],
  { mosRange: [low, high], mosColumn }: ImportCsvConfig,
): string[] {
  const values = records.flatMap(({ mosSource }) => mosSource?.value ?? []);
  const [least, most] = values.reduce(
    ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  if (most! - least! >= LEAST_SPAN * (high - low)) return [];
  return [
    `${mosColumn} runs from ${least} to ${most}, less than ${100 * LEAST_SPAN} % of the scale ${low} to ${high}: check --set mosRange=[lowest,highest]`,
  ];
}

function groupNotes(records: readonly ImageRecord[]): string[] {
  const sizes = new Map<string, number>();
  for (const { group } of records) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const shared = [...sizes.values()].filter((size) => size > 1);
  if (shared.length === 0) return [];
  const images = shared.reduce((sum, size) => sum + size, 0);
  return [`${images} images form ${shared.length} group(s) of several; each group stays in one split`];
}

/** Moves whole groups by a seeded shuffle; named test rows are never touched. Returns notes. */
function assignSplits(records: readonly ImageRecord[], config: ImportCsvConfig): string[] {
  const rng = new Rng(config.seed).fork('import');
  const notes: string[] = [];
  const move = (to: Split, share: number): void => {
    const { wanted, moved } = moveGroups(records, to, share, rng.fork(to));
    if (moved < wanted) {
      notes.push(`${to} has ${moved} of the ${wanted} images asked for: no more whole groups fit`);
    }
  };
  if (config.splitColumn === undefined) move('test', config.testShare);
  if (!records.some((record) => record.split === 'validation')) move('validation', config.validationShare);
  return notes;
}
