import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asStorageError, ConfigError, InputError, listNames } from '../../core/index.ts';
import { type LabelTable, readLabelTable } from '../readers/index.ts';
import { columnsOf, type Field, findField } from './fields.ts';
import type { PlacedRow } from './labels.ts';
import type { Manifest, ManifestFile, ManifestForm } from './schema.ts';

/** A form and where its label files lie. */
export interface ChosenForm {
  form: ManifestForm;
  files: { path: string; layout: ManifestFile }[];
}

const asPattern = (name: string): RegExp =>
  new RegExp(`^${name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i');

/**
 * Which form of the labels there is. A file decides by its name; a folder by which files lie in it. What does not
 * decide is refused with what is known: a form is never guessed from the content.
 */
export async function chooseForm(
  manifest: Pick<Manifest, 'name' | 'forms'>,
  options: { labels?: string | undefined; imagesFolder?: string | undefined; form?: string | undefined },
): Promise<ChosenForm> {
  const { labels, imagesFolder, form: wanted } = options;
  const forms = manifest.forms.filter(({ id }) => wanted === undefined || id === wanted);
  if (forms.length === 0) {
    throw new ConfigError(`manifest ${manifest.name} has no form "${wanted}"`, {
      hint: `allowed are ${manifest.forms.map(({ id }) => id).join(', ')}`,
    });
  }
  if (labels !== undefined && !(await isFolder(labels)))
    return fromFile(manifest.name, forms, labels, wanted);
  const folders =
    labels !== undefined ? [labels] : imagesFolder === undefined ? [] : [imagesFolder, dirname(imagesFolder)];
  for (const form of forms) {
    if (form.files.length === 0) return { form, files: [] };
    for (const folder of folders) {
      const files = await filesIn(folder, form);
      if (files !== undefined) return { form, files };
    }
  }
  throw new InputError(`no label file of ${manifest.name} in ${listNames(folders) || 'any folder given'}`, {
    hint: `name it with --labels; known are ${describeForms(forms)}`,
  });
}

const describeForms = (forms: readonly ManifestForm[]): string =>
  forms
    .map(({ id, files }) => `${files.map(({ file }) => file).join(' + ') || 'the images'} (form ${id})`)
    .join('; ');

function fromFile(
  name: string,
  forms: readonly ManifestForm[],
  path: string,
  wanted: string | undefined,
): ChosenForm {
  const single = forms.filter(({ files }) => files.length > 0);
  const fitting = single.flatMap((form) => {
    const layout = form.files.find(({ file }) => asPattern(file).test(basename(path)));
    return layout === undefined ? [] : [{ form, layout }];
  });
  const [first, second] = fitting;
  if (first !== undefined && (second === undefined || wanted !== undefined)) {
    if (first.form.join === 'side-by-side' && first.form.files.length > 1) {
      throw new ConfigError(`form ${first.form.id} of ${name} needs ${describeForms([first.form])}`, {
        hint: 'give the folder they lie in with --labels',
      });
    }
    return { form: first.form, files: [{ path, layout: first.layout }] };
  }
  const only = wanted === undefined ? undefined : single[0];
  if (only !== undefined && only.files.length === 1)
    return { form: only, files: [{ path, layout: only.files[0]! }] };
  throw new ConfigError(
    first === undefined
      ? `${basename(path)} is none of the label files of ${name}`
      : `${basename(path)} may be in several forms: ${fitting.map(({ form }) => form.id).join(', ')}`,
    { hint: `say which form it has with --set form=<id>; known are ${describeForms(single)}` },
  );
}

async function filesIn(folder: string, form: ManifestForm): Promise<ChosenForm['files'] | undefined> {
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    throw asStorageError(error, `reading ${folder}`);
  }
  const files: ChosenForm['files'] = [];
  for (const layout of form.files) {
    const found = names.filter((name) => asPattern(layout.file).test(name));
    if (found.length === 0) return undefined;
    files.push(...found.map((name) => ({ path: join(folder, name), layout })));
  }
  return files;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
}

export interface FormRows {
  rows: PlacedRow[];
  tables: Pick<LabelTable, 'path' | 'sha256'>[];
  /** What is worth knowing about the files, one sentence each. */
  notes: string[];
}

/** The rows of a form's files, joined as it says. A column that no file has is an InputError. */
export async function readForm({ form, files }: ChosenForm): Promise<FormRows> {
  const tables: { table: LabelTable; layout: ManifestFile }[] = [];
  for (const { path, layout } of files) tables.push({ table: await readLabelTable(path, layout), layout });
  const columns = new Set(tables.flatMap(({ table }) => table.columns));
  checkColumns(
    form,
    columns,
    tables.map(({ table }) => table),
  );
  const described = tables.map(({ table: { path, sha256 } }) => ({ path, sha256 }));
  if (form.join === 'append') {
    const rows = tables.flatMap(({ table, layout }) =>
      table.rows.map(
        ({ place, cells, problem }): PlacedRow => ({
          place: `${basename(table.path)} row ${place}`,
          cells,
          ...(problem === undefined ? {} : { problem }),
          ...(layout.split === undefined ? {} : { split: layout.split }),
        }),
      ),
    );
    return { ...(await withSplits(rows, form, files)), tables: described };
  }
  const lengths = tables.map(({ table }) => table.rows.length);
  if (new Set(lengths).size > 1) {
    throw new InputError(
      `the files of form ${form.id} have different numbers of rows: ${tables.map(({ table }, i) => `${basename(table.path)} ${lengths[i]}`).join(', ')}`,
      { hint: 'row i of each describes one image: copy or download them again' },
    );
  }
  const rows = Array.from({ length: lengths[0] ?? 0 }, (_, i): PlacedRow => {
    const parts = tables.map(({ table }) => table.rows[i]!);
    const problem = parts.find((part) => part.problem !== undefined)?.problem;
    return {
      place: `row ${i + 1}`,
      cells: Object.assign({}, ...parts.map(({ cells }) => cells)) as PlacedRow['cells'],
      ...(problem === undefined ? {} : { problem }),
    };
  });
  return { rows, tables: described, notes: [] };
}

function checkColumns(form: ManifestForm, columns: ReadonlySet<string>, tables: readonly LabelTable[]): void {
  const wanted: [string, Field | null | undefined][] = [
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
  const known = (column: string): boolean =>
    column.startsWith('$') || columns.has(column) || columns.has(column.split(/[.[]/)[0]!);
  for (const [key, field] of wanted) {
    if (field === null || field === undefined) continue;
    const choices = columnsOf(field);
    if (choices.some((names) => names.every(known))) continue;
    const missing = choices.flat().find((column) => !known(column));
    throw new InputError(
      `${listNames(tables.map(({ path }) => path))} has no column ${missing} (${key} of form ${form.id})`,
      {
        hint: `its columns are ${[...columns].slice(0, 30).join(', ') || '(none)'}; another form: --set form=<id>`,
      },
    );
  }
}

/** Rows with the splits of the lists that lie beside the label files. Without these lists there is no official split. */
async function withSplits(
  rows: PlacedRow[],
  form: ManifestForm,
  files: ChosenForm['files'],
): Promise<Pick<FormRows, 'rows' | 'notes'>> {
  if (form.splitLists.length === 0 || files.length === 0) return { rows, notes: [] };
  const splitOf = new Map<string, 'train' | 'validation' | 'test'>();
  const folder = dirname(files[0]!.path);
  const present = await readdir(folder);
  for (const list of form.splitLists) {
    if (!present.includes(list.file)) {
      return { rows, notes: [`${list.file} is not beside the labels: the official split is not used`] };
    }
    for (const { cells } of (await readLabelTable(join(folder, list.file), list)).rows) {
      const image = findField(list.image, cells).value;
      if (image !== undefined) splitOf.set(image.toLowerCase(), list.split);
    }
  }
  const placed = rows.map((row) => {
    const image = form.image === undefined ? undefined : findField(form.image, row.cells).value;
    return { ...row, split: splitOf.get(image?.toLowerCase() ?? '') ?? 'train' };
  });
  return { rows: placed, notes: [] };
}
