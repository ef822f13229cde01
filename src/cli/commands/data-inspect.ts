import { defineStageCommand } from '../stage-command.ts';

export const dataInspectCommand = defineStageCommand({
  path: ['data', 'inspect'],
  summary: 'what a data set holds: splits, scores, groups, distortions, licence',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'dataset', description: 'data set folder' },
    { flags: '--json', key: 'json', description: 'print everything as JSON' },
  ],
  load: async () => (await import('../stages/data-inspect.ts')).dataInspectStage,
});
