import { z } from 'zod';
import { QPonderError } from '../../core/index.ts';
import {
  describeColumns,
  describeProblems,
  hasLabels,
  type ImportCsvConfig,
  type ImportManifestConfig,
  importCsv,
  importCsvConfigSchema,
  importManifest,
  importManifestConfigSchema,
  SPLITS,
  type Split,
  type TableColumns,
  tableColumns,
} from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

const SHOWN_ROWS = 20;
const SHOWN_NAMES = 5;

const splitCounts = (counts: Readonly<Record<Split, number>>): string =>
  SPLITS.filter((split) => counts[split] > 0)
    .map((split) => `${split} ${counts[split]}`)
    .join(', ');

/**
 * Any table of scores. What is wrong with the settings comes in one answer, with the columns that the table has to
 * choose from: `source` is the table as the command line names it.
 */
export const dataImportStage = async (source: unknown): Promise<Stage<ImportCsvConfig>> => {
  const table = await columnsIn(source);
  return { ...tableStage, schema: importCsvConfigSchema.check(checkAgainst(source, table)) };
};

const tableStage: Stage<ImportCsvConfig> = {
  schema: importCsvConfigSchema,
  async run(config, { progress, print }) {
    const { output, counts, badRows, notes } = await importCsv(config);
    for (const note of notes) progress.note(note);
    for (const { row, problem } of badRows.slice(0, SHOWN_ROWS)) progress.note(`row ${row}: ${problem}`);
    print(`${output}: ${splitCounts(counts)}; ${badRows.length} rows left out`);
  },
};

/** Columns of the table, or why it can't be read. */
async function columnsIn(source: unknown): Promise<TableColumns | QPonderError | undefined> {
  if (typeof source !== 'string') return undefined;
  try {
    return await tableColumns(source);
  } catch (error) {
    if (error instanceof QPonderError) return error;
    throw error;
  }
}

const COLUMN_KEYS = ['imageColumn', 'mosColumn', 'stdColumn', 'splitColumn', 'groupColumn'] as const;

/** Runs though keys are missing: zod's own checks wait until all are there, and the user would be asked twice. */
function checkAgainst(source: unknown, table: Awaited<ReturnType<typeof columnsIn>>) {
  return z.superRefine<ImportCsvConfig>(
    (config, context) => {
      if (table === undefined) return;
      const incomplete = context.issues.length > 0;
      const add = (key: string, message: string) =>
        context.addIssue({ code: 'custom', path: [key], message });
      if (table instanceof QPonderError) {
        // A complete configuration fails when it runs, with the exit code of what is wrong with the file.
        if (incomplete) add('csv', `${table.message}${table.hint === undefined ? '' : ` (${table.hint})`}`);
        return;
      }
      const given: Partial<ImportCsvConfig> = config;
      const unknown = COLUMN_KEYS.filter((key) => {
        const name: unknown = given[key];
        const isPictures = key === 'imageColumn' && table.pictures.includes(String(name));
        return typeof name === 'string' && !isPictures && !hasLabels(table, name);
      });
      for (const key of unknown)
        add(key, `${source} has no column ${given[key]}${key === 'imageColumn' ? '' : ' of labels'}`);
      const needsFolder =
        given.imageColumn === undefined
          ? table.pictures.length === 0
          : !table.pictures.includes(given.imageColumn);
      if (needsFolder && given.imagesFolder === undefined) add('imagesFolder', 'is needed');
      const choosing = given.imageColumn === undefined || given.mosColumn === undefined || unknown.length > 0;
      if (choosing) add('csv', `its columns are ${describeColumns(table)}`);
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
}

/** A data set that has a manifest. */
export const dataImportManifestStage: Stage<ImportManifestConfig> = {
  schema: importManifestConfigSchema,
  async run(config, { progress, signal, print }) {
    const summary = await importManifest(config, { progress, signal });
    const { output, manifest, form, rows, counts, found, scale, problems, unlabelled, notes } = summary;
    for (const note of notes) progress.note(note);
    for (const line of describeProblems(problems)) progress.note(line);
    if (unlabelled.length > 0) {
      const more = unlabelled.length > SHOWN_NAMES ? ', ...' : '';
      progress.note(
        `${unlabelled.length} images without a label, left out: ${unlabelled.slice(0, SHOWN_NAMES).join(', ')}${more}`,
      );
    }
    print(
      `${output}: ${manifest} (${form}), ${rows} rows; ${splitCounts(counts)}; ${problems.length} rows not used`,
    );
    if (scale !== null && found !== null) {
      print(
        `  scores ${found[0]} to ${found[1]}, ${scale.direction} is better; ${scale.range[0]} to ${scale.range[1]} became ${scale.direction === 'higher' ? '1 to 5' : '5 to 1'}`,
      );
    }
    if (config.labelsOnly) print('  labels only: no image was looked for, and every record says so');
  },
};
