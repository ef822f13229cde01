import { defineStageCommand } from '../stage-command.ts';

export const distillCommand = defineStageCommand({
  path: ['distill'],
  summary: "collect a teacher's reasoning about the images of a data set",
  offers: [],
  shortcuts: [
    { flags: '--teacher <name>', key: 'teacher', description: 'oracle (generated images) or template' },
    { flags: '--data <folder>', key: 'dataset', description: 'data set folder' },
    { flags: '--out <folder>', key: 'output', description: 'folder for the rows and the report' },
  ],
  load: async () => (await import('../stages/distill.ts')).distillStage,
});
