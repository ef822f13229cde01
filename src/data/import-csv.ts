import { createReadStream } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { parse } from 'fast-csv';
import { z } from 'zod';
import { asStorageError, InputError, Rng, writeFolderAtomic, writeJsonl } from '../core/index.ts';
import { DATASET_FILE, type ImageRecord, RECORDS_FILE, type Split } from './records.ts';
import { checkReplaceable } from './replace.ts';

const share = z.number().min(0).max(0.9);

/** Configuration of an import. Unknown keys fail. */
export const importCsvConfigSchema = z
  .strictObject({
    csv: z.string().min(1).describe('table with a header row, one image a row'),
    imageColumn: z.string().min(1).describe('column with the file name'),
    mosColumn: z.string().min(1).describe('column with the mean opinion score'),
    stdColumn: z.string().min(1).optional().describe('column with the standard deviation of the ratings'),
    splitColumn: z.string().min(1).optional().describe('column with train, validation or test'),
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

/**
 * Brings a table of scores into the data set format: MOS rescaled linearly to [1, 5] with higher better,
 * records.jsonl that refers to the images in place. Bad rows are collected and reported together.
 */
export async function importCsv(config: ImportCsvConfig): Promise<ImportSummary> {
  await checkReplaceable(config.output, [DATASET_FILE, RECORDS_FILE]);
  const rows = await readTable(config);
  const badRows: BadRow[] = [];
  const records: ImageRecord[] = [];
  const seen = new Set<string>();
  for (const [i, cells] of rows.entries()) {
    const record = await recordOf(cells, config, seen);
    if (typeof record === 'string') badRows.push({ row: i + 2, problem: record });
    else records.push(record);
  }
  if (badRows.length > 0 && (config.badRows === 'fail' || records.length === 0)) {
    const listed = badRows.slice(0, 20).map(({ row, problem }) => `  row ${row}: ${problem}`);
    const more = badRows.length > 20 ? [`  ... and ${badRows.length - 20} more`] : [];
    throw new InputError(
      [`${config.csv}: ${badRows.length} of ${rows.length} rows cannot be used:`, ...listed, ...more].join(
        '\n',
      ),
      { hint: 'mend these rows, or import the others with badRows: skip' },
    );
  }
  if (records.length === 0) throw new InputError(`${config.csv} has no rows below its header`);
  assignSplits(records, config);
  await writeFolderAtomic(config.output, async (folder) => {
    await mkdir(folder, { recursive: true });
    await writeJsonl(join(folder, RECORDS_FILE), records);
    const { output: _, ...settings } = config;
    const info = { name: records[0]?.dataset, importedFrom: basename(config.csv), settings };
    await writeFile(join(folder, DATASET_FILE), `${JSON.stringify(info, null, 2)}\n`);
  });
  const count = (split: Split) => records.filter((record) => record.split === split).length;
  const counts = { train: count('train'), validation: count('validation'), test: count('test'), cross: 0 };
  return { output: config.output, counts, badRows };
}

type Cells = Readonly<Record<string, string>>;

async function readTable(config: ImportCsvConfig): Promise<Cells[]> {
  const rows: string[][] = [];
  try {
    // Headers are read here: fast-csv refuses tables with several unnamed columns, which real ones have.
    const stream = createReadStream(config.csv);
    const parser = parse<string[], string[]>({ headers: false, trim: true });
    stream.on('error', (error) => parser.destroy(error));
    for await (const row of stream.pipe(parser)) rows.push(row as string[]);
  } catch (error) {
    const storage = asStorageError(error, `reading ${config.csv}`);
    if (storage !== error) throw storage;
    throw new InputError(
      `${config.csv} is not a table of comma-separated values: ${(error as Error).message}`,
    );
  }
  const [header = [], ...body] = rows;
  const names = header.map((name) => name.replace(/^\uFEFF/, '').trim());
  for (const column of [config.imageColumn, config.mosColumn, config.stdColumn, config.splitColumn]) {
    if (column !== undefined && !names.includes(column)) {
      throw new InputError(`${config.csv} has no column ${column}`, {
        hint: `its columns are ${names.filter((name) => name !== '').join(', ') || '(none)'}`,
      });
    }
  }
  return body.map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ''])));
}

/** The record of a row, or what is wrong with the row. */
async function recordOf(
  cells: Cells,
  config: ImportCsvConfig,
  seen: Set<string>,
): Promise<ImageRecord | string> {
  const name = cells[config.imageColumn] ?? '';
  if (name === '') return `column ${config.imageColumn} is empty`;
  if (seen.has(name)) return `image ${name} is listed twice`;
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
  const path = resolve(config.imagesFolder, name);
  try {
    await access(path);
  } catch {
    return `image ${path} cannot be read`;
  }
  seen.add(name);
  const fraction = (value - low) / (high - low);
  return {
    id: name,
    image: config.paths === 'absolute' ? path : relative(resolve(config.output), path),
    dataset: config.name ?? basename(resolve(config.output)),
    split,
    mos: 1 + 4 * (config.direction === 'higher' ? fraction : 1 - fraction),
    mosStd: std === null ? null : (4 * std) / (high - low),
    raters: null,
    distortions: [],
    content: null,
    group: name,
    source: 'imported',
    generator: null,
    mosSource: { value, range: [low, high], direction: config.direction },
  };
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Moves whole rows by a seeded shuffle; named test rows are never touched. */
function assignSplits(records: ImageRecord[], config: ImportCsvConfig): void {
  const rng = new Rng(config.seed).fork('import');
  if (config.splitColumn === undefined) move(records, 'test', config.testShare, rng.fork('test'));
  if (!records.some((record) => record.split === 'validation')) {
    move(records, 'validation', config.validationShare, rng.fork('validation'));
  }
}

function move(records: ImageRecord[], to: Split, share: number, rng: Rng): void {
  const candidates = rng.shuffle(records.filter((record) => record.split === 'train'));
  for (const record of candidates.slice(0, Math.round(share * candidates.length))) record.split = to;
}
