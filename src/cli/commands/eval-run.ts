import { defineStageCommand } from '../stage-command.ts';

export const evalRunCommand = defineStageCommand({
  path: ['eval', 'run'],
  summary: 'score a split or a suite with models: SRCC, PLCC, KRCC, RMSE, consistency, distortions named',
  offers: ['backend', 'threads'],
  continues: true,
  shortcuts: [
    {
      flags: '--model <folders...>',
      key: 'model',
      description: 'checkpoint folders, or addresses of OpenAI-compatible servers (http://host/v1#NAME)',
    },
    { flags: '--suite <name>', key: 'suite', description: 'embedded, biq2021, cross-domain, or a YAML file' },
    {
      flags: '--data <folder>',
      key: 'dataset',
      description: 'data set folder; with --suite, the folder that holds its data sets',
    },
    { flags: '--splits <names...>', key: 'splits', description: 'train, validation, test, cross' },
    {
      flags: '--mode <mode>',
      key: 'mode',
      description: 'greedy, expected, sampled, levels, ... (see --dry-run)',
    },
    { flags: '--baselines', key: 'baselines', description: 'measure simple baselines too' },
    {
      flags: '--allow-leakage',
      key: 'allowLeakage',
      description: 'measure on images that the model has seen; recorded',
    },
    {
      flags: '--out <folder>',
      key: 'output',
      description: 'folder for predictions and summary; an interrupted run continues there',
    },
  ],
  load: async () => (await import('../stages/eval-run.ts')).evalRunStage,
});
