import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asStorageError, ConfigError, InputError, listNames } from '../../core/index.ts';
import { type LabelTable, readLabelTable } from '../readers/index.ts';
import { findField } from './fields.ts';
import { asPattern, columnProblem, describeForms, formsWithColumns, noLabelFile } from './find-labels.ts';
import { type PlacedRow, SPLIT_NAMES } from './labels.ts';
import type { Manifest, ManifestFile, ManifestForm } from './schema.ts';

/** A form and where its label files lie. */
export interface ChosenForm {
  form: ManifestForm;
  files: { path: string; layout: ManifestFile }[];
}

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
    return await fromFile(manifest.name, forms, labels, wanted);
  const folders =
    labels !== undefined ? [labels] : imagesFolder === undefined ? [] : [imagesFolder, dirname(imagesFolder)];
  const without = forms.find(({ files }) => files.length === 0);
  if (without !== undefined) return { form: without, files: [] };
  for (const folder of folders) {
    const fitting: ChosenForm[] = [];
    for (const form of forms) {
      const files = await filesIn(folder, form);
      if (files !== undefined) fitting.push({ form, files });
    }
    const chosen = (await byColumns(fitting)) ?? fitting[0];
    if (chosen !== undefined) return chosen;
  }
  throw await noLabelFile(manifest.name, forms, folders);
}

/** Of several forms that files may have by their names, the first whose columns are in the file; else undefined. */
async function byColumns(fitting: readonly ChosenForm[]): Promise<ChosenForm | undefined> {
  if (fitting.length < 2) return fitting[0];
  for (const chosen of fitting) {
    const [file] = chosen.files;
    const { columns } = await readLabelTable(file!.path, file!.layout);
    if (columnProblem(chosen.form, new Set(columns)) === undefined) return chosen;
  }
  return undefined;
}

async function fromFile(
  name: string,
  forms: readonly ManifestForm[],
  path: string,
  wanted: string | undefined,
): Promise<ChosenForm> {
  const single = forms.filter(({ files }) => files.length > 0);
  const fitting = single.flatMap((form) => {
    const layout = form.files.find(({ file }) => asPattern(file).test(basename(path)));
    return layout === undefined ? [] : [{ form, files: [{ path, layout }] }];
  });
  const [first, second] = fitting;
  if (first !== undefined && (second === undefined || wanted !== undefined)) {
    if (first.form.join === 'side-by-side' && first.form.files.length > 1) {
      throw new ConfigError(`form ${first.form.id} of ${name} needs ${describeForms([first.form])}`, {
        hint: 'give the folder they lie in with --labels',
      });
    }
    return first;
  }
  const only = wanted === undefined ? undefined : single[0];
  if (only !== undefined && only.files.length === 1)
    return { form: only, files: [{ path, layout: only.files[0]! }] };
  const chosen = await byColumns(fitting);
  if (chosen !== undefined) return chosen;
  throw new ConfigError(
    first === undefined
      ? `${basename(path)} is none of the label files of ${name}`
      : `${basename(path)} may be in several forms: ${fitting.map(({ form }) => form.id).join(', ')}`,
    {
      hint: `${await formAdvice(path, single)}; known are ${describeForms(single)}`,
    },
  );
}

/** A form is not chosen by the columns alone, but it may be proposed. */
async function formAdvice(path: string, forms: readonly ManifestForm[]): Promise<string> {
  const [same] = await formsWithColumns(path, forms);
  return same === undefined
    ? 'say which form it has with --set form=<id>'
    : `it has the columns of form ${same.id}: --set form=${same.id}`;
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
    const found = names.filter((name) => asPattern(layout.file).test(name) && !layout.except.includes(name));
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
    const splits = splitsByName(tables);
    const rows = tables.flatMap(({ table, layout }, i) =>
      table.rows.map(
        ({ place, cells, problem }): PlacedRow => ({
          place: `${basename(table.path)} row ${place}`,
          cells,
          ...(problem === undefined ? {} : { problem }),
          ...(splits.of?.[i] === undefined
            ? layout.split === undefined
              ? {}
              : { split: layout.split }
            : { split: splits.of[i] }),
        }),
      ),
    );
    const placed = await withSplits(rows, form, files);
    return { rows: placed.rows, notes: [...splits.notes, ...placed.notes], tables: described };
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

/** The split of each file by its name, where there are several and each names one; else all are drawn from alike. */
function splitsByName(tables: readonly { table: LabelTable; layout: ManifestFile }[]): {
  of: ('train' | 'validation' | 'test')[] | null;
  notes: string[];
} {
  if (!tables.every(({ layout }) => layout.splitByName)) return { of: null, notes: [] };
  const of = tables.map(({ table }) => splitInName(basename(table.path)));
  const unnamed = tables.filter((_, i) => of[i] === undefined).map(({ table }) => basename(table.path));
  if (tables.length === 1 || unnamed.length > 0) {
    const why =
      tables.length === 1
        ? `${basename(tables[0]!.table.path)} is one file`
        : `${listNames(unnamed)} names no split`;
    return { of: null, notes: [`${why}: splits are drawn anew`] };
  }
  return { of: of as ('train' | 'validation' | 'test')[], notes: [] };
}

function splitInName(name: string): 'train' | 'validation' | 'test' | undefined {
  const words = name.toLowerCase().split(/[^a-z]+/);
  const splits = new Set(
    words.flatMap((word) => (Object.hasOwn(SPLIT_NAMES, word) ? SPLIT_NAMES[word]! : [])),
  );
  return splits.size === 1 ? [...splits][0] : undefined;
}

function checkColumns(form: ManifestForm, columns: ReadonlySet<string>, tables: readonly LabelTable[]): void {
  const missing = columnProblem(form, columns);
  if (missing === undefined) return;
  const { key, column } = missing;
  throw new InputError(
    `${listNames(tables.map(({ path }) => path))} has no column ${column} (${key} of form ${form.id})`,
    {
      hint: `its columns are ${[...columns].slice(0, 30).join(', ') || '(none)'}; another form: --set form=<id>`,
    },
  );
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
