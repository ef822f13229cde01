import {
  describeProblems,
  type ImportCsvConfig,
  type ImportManifestConfig,
  importCsv,
  importCsvConfigSchema,
  importManifest,
  importManifestConfigSchema,
  SPLITS,
  type Split,
} from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

const SHOWN_ROWS = 20;
const SHOWN_NAMES = 5;

const splitCounts = (counts: Readonly<Record<Split, number>>): string =>
  SPLITS.filter((split) => counts[split] > 0)
    .map((split) => `${split} ${counts[split]}`)
    .join(', ');

/** Any table of scores. */
export const dataImportStage: Stage<ImportCsvConfig> = {
  schema: importCsvConfigSchema,
  async run(config, { progress, print }) {
    const { output, counts, badRows, notes } = await importCsv(config);
    for (const note of notes) progress.note(note);
    for (const { row, problem } of badRows.slice(0, SHOWN_ROWS)) progress.note(`row ${row}: ${problem}`);
    print(`${output}: ${splitCounts(counts)}; ${badRows.length} rows left out`);
  },
};

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
