import { defineStageCommand } from '../stage-command.ts';

export const dataValidateCommand = defineStageCommand({
  path: ['data', 'validate'],
  summary: 'find broken, missing and repeated images, bad labels and leaking splits; writes a report',
  offers: [],
  continues: true,
  shortcuts: [
    { flags: '[folder]', key: 'data', description: 'data set folder, or a folder of images' },
    {
      flags: '--out <folder>',
      key: 'output',
      description: 'where the report and the cache go; default <folder>-validation',
    },
    { flags: '--json', key: 'json', description: 'print the report as JSON' },
  ],
  load: async () => (await import('../stages/data-validate.ts')).dataValidateStage,
});
