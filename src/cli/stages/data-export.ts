import { type ExportConfig, exportConfigSchema, exportDataset } from '../../data/index.ts';
import type { Stage } from '../stage-command.ts';

export const dataExportStage: Stage<ExportConfig> = {
  schema: exportConfigSchema,
  async run(config, { progress, print }) {
    const { output, counts, files, unjudged, unanswered } = await exportDataset(config);
    if (unjudged > 0) progress.note(`${unjudged} images without a score are left out`);
    if (unanswered > 0) progress.note(`${unanswered} images without an answer are left out`);
    const rows = Object.entries(counts).map(([split, count]) => `${split} ${count}`);
    print(`${output}: ${config.format}, ${rows.join(', ')} (${files.join(', ')})`);
  },
};
