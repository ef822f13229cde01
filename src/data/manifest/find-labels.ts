import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { asStorageError, InputError, listNames, QPonderError } from '../../core/index.ts';
import { formatOfName, readLabelTable } from '../readers/index.ts';
import { columnsOf, type Field } from './fields.ts';
import type { ManifestForm } from './schema.ts';

export const asPattern = (name: string): RegExp =>
  new RegExp(`^${name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i');

export const describeForms = (forms: readonly ManifestForm[]): string =>
  forms
    .map(({ id, files }) => `${files.map(({ file }) => file).join(' + ') || 'the images'} (form ${id})`)
    .join('; ');

/** What a form reads of a row and by which columns; a field may have a choice of several. */
function wantedColumns(form: ManifestForm): [key: string, choices: string[][]][] {
  const fields: [string, Field | null | undefined][] = [
    ['image', form.image],
    ['mos', form.mos],
    ['std', form.std?.field],
    ['raters', form.raters],
    ['reference', form.reference],
    ['distortion', form.distortion],
    ['level', form.level],
    ['group', form.group],
    ['split', form.split],
    ...(form.votes?.columns ?? []).map((column): [string, Field] => ['votes', column]),
  ];
  return fields.flatMap(([key, field]) =>
    field === null || field === undefined ? [] : [[key, columnsOf(field)] as [string, string[][]]],
  );
}

/** A column that the form needs and a file lacks, and what for; undefined where all are there. */
export function columnProblem(
  form: ManifestForm,
  columns: ReadonlySet<string>,
): { key: string; column: string } | undefined {
  const known = (column: string): boolean =>
    column.startsWith('$') || columns.has(column) || columns.has(column.split(/[.[]/)[0]!);
  for (const [key, choices] of wantedColumns(form)) {
    if (choices.some((names) => names.every(known))) continue;
    return { key, column: choices.flat().find((column) => !known(column))! };
  }
  return undefined;
}

/** A file that may hold labels. */
interface FoundTable {
  /** Relative to the folder that was looked through. */
  name: string;
  path: string;
  /** Null where it can't be read as a table. */
  columns: string[] | null;
}

/** An error should not take minutes: so many tables are opened, in folders so deep. */
const MOST_TABLES = 12;
const DEEPEST = 3;

/** The error of a folder without label files that the manifest knows: what is there, and what would be read. */
export async function noLabelFile(
  manifest: string,
  forms: readonly ManifestForm[],
  folders: readonly string[],
): Promise<InputError> {
  const lines = [`no label file of ${manifest} in ${listNames(folders) || 'any folder given'}`];
  const hints: string[] = [];
  for (const folder of folders) {
    const names = await tablesIn(folder);
    const tables: FoundTable[] = [];
    for (const name of names.slice(0, MOST_TABLES)) {
      const path = join(folder, name);
      tables.push({ name, path, columns: await columnsIn(path) });
    }
    if (tables.length === 0) lines.push(`  ${folder} has no tables at all`);
    else lines.push(`  in ${folder} there are`, ...tables.map(describeTable));
    if (names.length > tables.length) lines.push(`    ... and ${names.length - tables.length} more`);
    hints.push(...tables.flatMap((table) => adviceFor(table, forms)));
  }
  lines.push(`  ${manifest} is read from`, ...forms.map(describeForm));
  const [first] = hints;
  return new InputError(lines.join('\n'), {
    hint:
      first ??
      (folders.length === 0
        ? 'name the label file, or the folder it lies in, with --labels'
        : 'give one of these files with --labels <file>, and with --set form=<id> if it is called otherwise; any other table: q-ponder data import <file> --image-column <name> --mos-column <name>'),
  });
}

const describeTable = ({ name, columns }: FoundTable): string =>
  `    ${name}: ${columns === null ? 'cannot be read as a table' : `first row ${listNames(columns, 12) || '(empty)'}`}`;

const describeForm = (form: ManifestForm): string => {
  const files = form.files.map(({ file, columns }) =>
    columns === undefined ? file : `${file} without a header (${columns.join(', ')})`,
  );
  const columns = form.files.every((file) => file.columns === undefined)
    ? ` with ${wantedColumns(form)
        .filter(([, choices]) => !choices.flat().every((column) => column.startsWith('$')))
        .map(([key, choices]) => `${choices.map((names) => names.join('+')).join(' or ')} (${key})`)
        .join(', ')}`
    : '';
  return `    form ${form.id}: ${files.join(' + ')}${columns}`;
};

/** Forms of one file with a header whose columns are all there. */
const withColumns = (columns: readonly string[], forms: readonly ManifestForm[]): ManifestForm[] =>
  forms.filter(
    (form) =>
      form.files.length === 1 &&
      form.files[0]!.columns === undefined &&
      columnProblem(form, new Set(columns)) === undefined,
  );

/** The same of a file; none where it can't be read as a table. */
export async function formsWithColumns(
  path: string,
  forms: readonly ManifestForm[],
): Promise<ManifestForm[]> {
  const columns = await columnsIn(path);
  return columns === null ? [] : withColumns(columns, forms);
}

/** A file in a subfolder that a form knows, or one whose header has all columns of a form. */
function adviceFor({ name, path, columns }: FoundTable, forms: readonly ManifestForm[]): string[] {
  const single = forms.filter(({ files }) => files.length === 1);
  const known = single.find((form) => asPattern(form.files[0]!.file).test(basename(path)));
  if (known !== undefined) return [`${name} has the name of form ${known.id}: give --labels ${path}`];
  const same = columns === null ? undefined : withColumns(columns, forms)[0];
  return same === undefined
    ? []
    : [`${name} has the columns of form ${same.id}: give --labels ${path} --set form=${same.id}`];
}

/** Tables of a folder and of its subfolders, nearest first. Folders of images are not entered far. */
async function tablesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  let level = [''];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const next: string[] = [];
    for (const below of level) {
      try {
        const entries = await readdir(join(folder, below), { withFileTypes: true });
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
          if (entry.isDirectory()) next.push(join(below, entry.name));
          else if (formatOfName(entry.name) !== undefined) found.push(join(below, entry.name));
        }
      } catch (error) {
        throw asStorageError(error, `reading ${join(folder, below)}`);
      }
    }
    level = next;
  }
  return found;
}

async function columnsIn(path: string): Promise<string[] | null> {
  try {
    return (await readLabelTable(path)).columns;
  } catch (error) {
    if (error instanceof QPonderError) return null;
    throw error;
  }
}
