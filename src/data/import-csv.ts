import { writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { InputError, Rng, sha256OfFile, writeFolderAtomic, writeJsonl } from '../core/index.ts';
import type { ImportCsvConfig } from './import-csv-config.ts';
import { findImages, PICTURES_FOLDER, type PlacedImage, writePictures } from './import-csv-images.ts';
import { assignGroups, type Imported, moveGroups, moveNotes } from './import-groups.ts';
import { readTable, type TableRow, tableColumns, type WantedColumn } from './import-table.ts';
import { SPLIT_NAMES } from './manifest/labels.ts';
import { numberOf } from './readers/index.ts';
import { DATASET_FILE, type ImageRecord, RECORDS_FILE, type Split } from './records.ts';
import { checkReplaceable, type OwnFiles } from './replace.ts';

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

/** Below this share of the scale, scores that were given with another scale in mind are more likely than dull images. */
const LEAST_SPAN = 0.1;

/**
 * Brings a table of scores into the data set format: MOS rescaled linearly to [1, 5] with higher better,
 * records.jsonl that refers to the images in place, or to those that were written out of the table. Bad rows are
 * collected and reported together. The output folder replaces an older import with nothing else in it, but no other
 * folder; it appears whole or not at all.
 */
export async function importCsv(config: ImportCsvConfig): Promise<ImportSummary> {
  const columns = await tableColumns(config.csv);
  const holdsPictures = columns.pictures.includes(config.imageColumn);
  const own: OwnFiles = {
    names: [DATASET_FILE, RECORDS_FILE, ...(holdsPictures ? [PICTURES_FOLDER] : [])],
    mark: 'importedFrom',
    ...(holdsPictures ? { imagesFolder: PICTURES_FOLDER } : {}),
    reads: { csv: config.csv, imagesFolder: holdsPictures ? undefined : config.imagesFolder },
  };
  await checkReplaceable(config.output, own);
  const rows = await readTable(config.csv, wantedColumns(config, holdsPictures));
  if (rows.length === 0) throw new InputError(`${config.csv} has no rows below its header`);
  let imported: Omit<ImportSummary, 'output'> | undefined;
  await writeFolderAtomic(config.output, async (folder) => {
    const { records, badRows, notes } = await recordsOfRows(rows, config, holdsPictures ? folder : null);
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
    const count = (split: Split) => records.filter((record) => record.split === split).length;
    const counts = { train: count('train'), validation: count('validation'), test: count('test'), cross: 0 };
    imported = { counts, badRows, notes };
  });
  return { output: config.output, ...imported! };
}

function wantedColumns(config: ImportCsvConfig, holdsPictures: boolean): WantedColumn[] {
  const columns: [string | undefined, string][] = [
    [holdsPictures ? undefined : config.imageColumn, '--image-column'],
    [config.mosColumn, '--mos-column'],
    [config.stdColumn, '--set stdColumn=<name>'],
    [config.splitColumn, '--set splitColumn=<name>'],
    [config.groupColumn, '--set groupColumn=<name>'],
  ];
  return columns.flatMap(([name, setting]) => (name === undefined ? [] : [{ name, setting }]));
}

/** Records in the table's order with groups and splits. `folder`: where pictures of the table are written to. */
async function recordsOfRows(
  rows: readonly TableRow[],
  config: ImportCsvConfig,
  folder: string | null,
): Promise<{ records: ImageRecord[]; badRows: BadRow[]; notes: string[] }> {
  const badRows: BadRow[] = [];
  const usable: { row: number; name: string; label: RowLabel }[] = [];
  for (const row of rows) {
    const label = readRow(row, config, folder !== null);
    if (typeof label === 'string') badRows.push({ row: row.row, problem: label });
    else usable.push({ row: row.row, name: row.cells[config.imageColumn] ?? '', label });
  }
  const placed =
    folder === null ? await findImages(usable, config) : await writePictures(usable, config, folder);
  const images: Imported[] = [];
  for (const { row, label } of usable) {
    const image = placed.of.get(row) ?? 'the table ends before it';
    if (typeof image === 'string') badRows.push({ row, problem: image });
    else images.push({ record: recordOf(image, label, config), sha256: image.sha256, group: label.group });
  }
  badRows.sort((a, b) => a.row - b.row);
  if (badRows.length > 0 && (config.badRows === 'fail' || images.length === 0)) {
    throw unusable(config.csv, badRows, rows.length);
  }
  const records = images.map(({ record }) => record);
  assignGroups(images, {
    csv: config.csv,
    allowDuplicates: config.allowDuplicates,
    official: config.splitColumn !== undefined,
  });
  const notes = [
    ...placed.notes,
    ...spanNotes(records, config),
    ...groupNotes(records),
    ...assignSplits(records, config),
  ];
  return { records, badRows, notes };
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

/** What a row says about its image. */
interface RowLabel {
  value: number;
  std: number | null;
  split: Split;
  group: string | null;
}

/** The label of a row, or what is wrong with the row. */
function readRow(
  { cells, problem }: TableRow,
  config: ImportCsvConfig,
  holdsPictures: boolean,
): RowLabel | string {
  if (problem !== undefined) return problem;
  if (!holdsPictures && cells[config.imageColumn] === '') return `column ${config.imageColumn} is empty`;
  const [low, high] = config.mosRange;
  const mos = cells[config.mosColumn] ?? '';
  const value = numberOf(mos);
  if (value === undefined) return `${config.mosColumn} is "${mos}", not a number${commaAdvice(mos)}`;
  if (value < low || value > high) return `${config.mosColumn} ${value} lies outside ${low} to ${high}`;
  const splitName = config.splitColumn === undefined ? 'train' : (cells[config.splitColumn] ?? '');
  const split = SPLIT_NAMES[splitName.toLowerCase()];
  if (split === undefined) return `split "${splitName}" is none of ${Object.keys(SPLIT_NAMES).join(', ')}`;
  // Some tables have a spread for part of the images only: that is unknown, not wrong.
  const spread = config.stdColumn === undefined ? '' : (cells[config.stdColumn] ?? '');
  const std = spread === '' ? null : numberOf(spread);
  if (std === undefined || (std !== null && std < 0)) {
    return `${config.stdColumn} is "${spread}", not a number of 0 or more${commaAdvice(spread)}`;
  }
  const group = config.groupColumn === undefined ? null : (cells[config.groupColumn] ?? '');
  if (group === '') return `column ${config.groupColumn} is empty`;
  return { value, std, split, group };
}

function recordOf({ id, path }: PlacedImage, label: RowLabel, config: ImportCsvConfig): ImageRecord {
  const { value, std, split, group } = label;
  const [low, high] = config.mosRange;
  const fraction = (value - low) / (high - low);
  return {
    id,
    image: config.paths === 'absolute' ? path : relative(resolve(config.output), path),
    dataset: config.name ?? basename(resolve(config.output)),
    split,
    mos: 1 + 4 * (config.direction === 'higher' ? fraction : 1 - fraction),
    mosStd: std === null ? null : (4 * std) / (high - low),
    raters: null,
    distortions: [],
    content: null,
    group: group ?? id,
    source: 'imported',
    generator: null,
    mosSource: { value, range: [low, high], direction: config.direction },
  };
}

const commaAdvice = (text: string): string => (/^[+-]?\d+,\d+$/.test(text) ? ' (write a decimal point)' : '');

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
    notes.push(...moveNotes(to, share, moveGroups(records, to, share, rng.fork(to))));
  };
  if (config.splitColumn === undefined) move('test', config.testShare);
  if (!records.some((record) => record.split === 'validation')) move('validation', config.validationShare);
  return notes;
}
