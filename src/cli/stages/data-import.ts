import { type ImportCsvConfig, importCsv, importCsvConfigSchema, SPLITS } from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

const SHOWN_ROWS = 20;

export const dataImportStage: Stage<ImportCsvConfig> = {
  schema: importCsvConfigSchema,
  async run(config, { progress, print }) {
    const { output, counts, badRows, notes } = await importCsv(config);
    for (const note of notes) progress.note(note);
    for (const { row, problem } of badRows.slice(0, SHOWN_ROWS)) progress.note(`row ${row}: ${problem}`);
    const parts = SPLITS.filter((split) => counts[split] > 0).map((split) => `${split} ${counts[split]}`);
    print(`${output}: ${parts.join(', ')}; ${badRows.length} rows left out`);
  },
};
