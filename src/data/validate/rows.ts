import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { asStorageError, InputError } from '../../core/index.ts';
import { imageRecordSchema, RECORDS_FILE } from '../records.ts';
import { walkFiles } from '../walk-files.ts';
import type { Finding } from './findings.ts';

/** What is needed of a record, read as far as the row allows. */
export interface Row {
  id: string;
  /** As the row says, and as a path to open. */
  image: string;
  path: string;
  split: string | null;
  group: string | null;
  reference: string | null;
  /** Null where there is no finite number. */
  mos: number | null;
}

const IMAGE_NAME = /\.(png|jpe?g|webp|tiff?|avif|gif|bmp|heic)$/i;

/**
 * The rows of a data set folder, or the image files of a folder that has no records. Unlike `loadDataset` this
 * reads on after a bad row: everything wrong is found in one go.
 */
export async function readRows(folder: string, findings: Finding[]): Promise<Row[]> {
  const path = join(folder, RECORDS_FILE);
  try {
    if (!(await stat(folder)).isDirectory()) throw new InputError(`${folder} is not a folder`);
    await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw asStorageError(error, `reading ${folder}`);
    return filesOf(folder);
  }
  const rows: Row[] = [];
  const lines = createInterface({
    input: createReadStream(path, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let number = 0;
  try {
    for await (const line of lines) {
      number++;
      if (line.trim() === '') continue;
      const row = readRow(line, number, folder, findings);
      if (row !== null) rows.push(row);
    }
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  if (number === 0) throw new InputError(`${path} holds no images`);
  return rows;
}

async function filesOf(folder: string): Promise<Row[]> {
  const names = (await walkFiles(folder)).filter((name) => IMAGE_NAME.test(name));
  if (names.length === 0) {
    throw new InputError(`${folder} has neither ${RECORDS_FILE} nor image files`, {
      hint: 'name a data set folder made by "data import" or "data synth", or a folder of images',
    });
  }
  return names.map((image) => ({
    id: image,
    image,
    path: join(folder, image),
    split: null,
    group: null,
    reference: null,
    mos: null,
  }));
}

function readRow(line: string, number: number, folder: string, findings: Finding[]): Row | null {
  const where = `line ${number}`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    // Python's json writes NaN and Infinity, which JSON does not know.
    value = asJson(line.replaceAll(/(?<=[:[,]\s*)(-?Infinity|NaN)(?=\s*[,}\]])/g, 'null'));
    if (value === null) {
      findings.push(at('bad-row', where, `is not JSON: ${(error as Error).message}`));
      return null;
    }
    findings.push(at('not-a-number', nameOf(value, where), 'has NaN or Infinity among its values'));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    findings.push(at('bad-row', where, 'is not an object'));
    return null;
  }
  const fields = value as Record<string, unknown>;
  const id = nameOf(value, where);
  const known = findings.length;
  checkLabel(fields, id, findings);
  // A number that is out of range has a finding of its own; a label that is missing or no number at all has not.
  const isLabelNamed = (name: string): boolean =>
    findings.slice(known).some(({ message }) => message.startsWith(`${id} ${name} `));
  const parsed = imageRecordSchema.safeParse(value);
  for (const issue of parsed.success ? [] : parsed.error.issues) {
    const name = String(issue.path[0]);
    if (!(['mos', 'mosStd'].includes(name) && isLabelNamed(name))) {
      findings.push(at('bad-row', id, `${issue.path.join('.') || '(row)'}: ${issue.message} (${where})`));
    }
  }
  const image = textOf(fields.image);
  if (image === null) return null;
  const mos = typeof fields.mos === 'number' && Number.isFinite(fields.mos) ? fields.mos : null;
  return {
    id,
    image,
    path: isAbsolute(image) ? image : join(folder, image),
    split: textOf(fields.split),
    group: textOf(fields.group),
    reference: textOf(fields.reference),
    mos,
  };
}

function checkLabel(fields: Record<string, unknown>, id: string, findings: Finding[]): void {
  const { mos, mosStd, mosSource } = fields;
  if (typeof mos === 'string') {
    findings.push(at('not-a-number', id, `mos is the text ${JSON.stringify(mos)}`));
  } else if (typeof mos === 'number' && !(mos >= 1 && mos <= 5)) {
    findings.push(at('label-out-of-range', id, `mos is ${mos}, allowed is 1 to 5`));
  }
  if (typeof mosStd === 'number' && mosStd < 0) {
    findings.push(at('label-out-of-range', id, `mosStd is ${mosStd}, allowed is 0 or more`));
  }
  const { value, range } = (mosSource ?? {}) as { value?: unknown; range?: unknown };
  if (typeof value !== 'number' || !Array.isArray(range)) return;
  const [low, high] = range as number[];
  if (low !== undefined && high !== undefined && !(value >= low && value <= high)) {
    findings.push(
      at('label-out-of-range', id, `the score ${value} lies outside its scale ${low} to ${high}`),
    );
  }
}

const at = (kind: Finding['kind'], id: string, message: string): Finding => ({
  kind,
  message: `${id} ${message}`,
  ids: [id],
  images: [],
});

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const nameOf = (value: unknown, where: string): string =>
  textOf((value as { id?: unknown } | null)?.id) ?? where;

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A path for a report: relative where it lies in the folder. */
export function shownPath(folder: string, path: string): string {
  const way = relative(folder, path);
  return way.startsWith('..') || isAbsolute(way) ? path : way;
}
