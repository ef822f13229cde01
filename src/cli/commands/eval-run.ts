import { defineStageCommand } from '../stage-command.ts';

export const evalRunCommand = defineStageCommand({
  path: ['eval', 'run'],
  summary: 'score a split with a model: SRCC, PLCC, KRCC, RMSE, consistency, distortions named',
  offers: ['backend', 'threads'],
  shortcuts: [
    { flags: '--model <folder>', key: 'model', description: 'checkpoint folder' },
    { flags: '--data <folder>', key: 'dataset', description: 'data set folder' },
    { flags: '--splits <names...>', key: 'splits', description: 'train, validation, test, cross' },
    { flags: '--mode <mode>', key: 'mode', description: 'greedy, expected or sampled' },
    { flags: '--out <folder>', key: 'output', description: 'folder for predictions and summary' },
  ],
  load: async () => (await import('../stages/eval-run.ts')).evalRunStage,
});
