import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const scoreCommand = defineStageCommand({
  path: ['score'],
  summary: 'score pictures, worst first, with the reasoning',
  offers: ['backend', 'threads'],
  shortcuts: [
    {
      flags: '[images...]',
      key: 'images',
      description: 'image files, folders, or - for a list on standard input',
    },
    { flags: '--model <folder>', key: 'model', description: 'checkpoint folder (default: the demo’s)' },
    { flags: '--mode <mode>', key: 'mode', description: 'expected (default), greedy or sampled' },
    {
      flags: '--min-score <score>',
      key: 'minScore',
      description: 'exit 8 if a picture scores lower',
      parse: parseNumber,
    },
    { flags: '--json', key: 'json', description: 'one JSON object per picture' },
    { flags: '--csv', key: 'csv', description: 'a CSV table' },
  ],
  load: async () => (await import('../stages/score.ts')).scoreStage,
});
