import { defineStageCommand } from '../stage-command.ts';

/** For an option that may be repeated. */
const collect = (text: string, before: string[] = []): string[] => [...before, text];

export const dataExportCommand = defineStageCommand({
  path: ['data', 'export'],
  summary: 'write a data set as the rows of another project',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'dataset', description: 'data set folder' },
    {
      flags: '--format <name>',
      key: 'format',
      description: 'ms-swift, llama-factory, trl, parquet, q-align, q-insight or visualquality-r1',
    },
    { flags: '--out <folder>', key: 'output', description: 'folder to write one file for each split to' },
    { flags: '--answers <file>', key: 'answers', description: 'accepted.jsonl of a distillation' },
    {
      flags: '--split <name>',
      key: 'splits',
      description: 'only this split; may be repeated',
      parse: collect,
    },
  ],
  load: async () => (await import('../stages/data-export.ts')).dataExportStage,
});
