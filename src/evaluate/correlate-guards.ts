import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError, InputError, listNames } from '../core/index.ts';
import type { CorrelateOptions } from './correlate-options.ts';
import type { Table } from './tables/index.ts';

const repeated = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, i) => names.indexOf(name) !== i)),
];

/** ConfigError for a column that is compared with itself. */
export function refuseRepeatedColumns({ predictions, target, labels }: CorrelateOptions): void {
  const twice = repeated(predictions);
  if (twice.length > 0) {
    throw new ConfigError(`the column ${listNames(twice)} is given as a prediction more than once`, {
      hint: 'name each column of predictions once',
    });
  }
  if (labels == null && predictions.includes(target)) {
    throw new ConfigError(`"${target}" is given both as prediction and as target: it equals itself`, {
      hint: 'name the column of subjective scores with --mos',
    });
  }
}

/** InputError for one table read twice, by whatever path: its rows would count double and narrow the intervals. */
export function refuseRepeatedFiles(tables: readonly Table[]): void {
  for (const [i, { path, sha256 }] of tables.entries()) {
    const before = tables.slice(0, i).find((table) => table.sha256 === sha256);
    if (before === undefined) continue;
    throw new InputError(`${before.path} and ${path} have the same content: every row would count twice`, {
      hint: 'give each file once',
    });
  }
}

/** Columns that usually name the image. Read to warn only: which one counts is said with --id. */
export const USUAL_ID_COLUMNS = [
  ...['id', 'image', 'image_id', 'image_name', 'image_path', 'img', 'img_name', 'img_path', 'imgname'],
  ...['filename', 'file_name', 'file', 'path', 'dist_img', 'name'],
] as const;

/** Places that a sentence names; it always counts all. */
const NAMED = 5;

/**
 * Says that the column that names the images has values more than once, where no id column was given. With `id`,
 * that several files share ids: legitimate for data sets that number their images alike, and double counting else.
 */
export function repeatedImageNotices(tables: readonly Table[], id: string | undefined): string[] {
  if (id !== undefined) return sharedIds(tables, id);
  return tables.flatMap(({ path, unit, places, cells }) => {
    const column = USUAL_ID_COLUMNS.find((name) => cells.has(name));
    if (column === undefined) return [];
    const firstPlace = new Map<string, number>();
    const again: string[] = [];
    let distinct = 0;
    for (const [row, cell] of cells.get(column)!.entries()) {
      const value = String(cell ?? '').trim();
      if (value === '') continue;
      const first = firstPlace.get(value);
      if (first === undefined) {
        firstPlace.set(value, places[row]!);
        distinct++;
      } else again.push(`${value} (${unit}s ${first} and ${places[row]!})`);
    }
    // A column of few values groups the rows, it does not name the images.
    if (again.length === 0 || distinct < places.length / 4) return [];
    return [
      `${path}: "${column}" has ${again.length} value(s) that occurred before: ${listNames(again, NAMED)}. All rows were counted; ` +
        `if "${column}" identifies the images, repeats make intervals too narrow, and --id ${column} refuses them`,
    ];
  });
}

function sharedIds(tables: readonly Table[], id: string): string[] {
  const fileOf = new Map<string, string>();
  const shared = new Map<string, number>();
  for (const { path, cells } of tables) {
    for (const cell of cells.get(id) ?? []) {
      const value = String(cell ?? '').trim();
      const before = fileOf.get(value);
      if (before === undefined) fileOf.set(value, path);
      else if (before !== path) {
        const pair = `${before} and ${path}`;
        shared.set(pair, (shared.get(pair) ?? 0) + 1);
      }
    }
  }
  return [...shared].map(
    ([pair, count]) =>
      `${pair} share ${count} value(s) of "${id}": if these are the same images, each counts twice`,
  );
}

const real = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch {
    // What does not exist yet is no other file by another name.
    return resolve(path);
  }
};

/** ConfigError where a result would be written over a table that is read, or over another result. */
export async function requireOwnFiles(
  inputs: readonly string[],
  outputs: Readonly<Record<string, string | null | undefined>>,
): Promise<void> {
  const taken = new Map<string, string>();
  for (const input of inputs) taken.set(await real(input), `the input ${input}`);
  for (const [name, path] of Object.entries(outputs)) {
    if (path == null) continue;
    const place = await real(path);
    const owner = taken.get(place);
    if (owner !== undefined) {
      throw new ConfigError(`--${name} ${path} would overwrite ${owner}`, {
        hint: 'give every result a file of its own',
      });
    }
    taken.set(place, `the result of --${name}`);
  }
}
