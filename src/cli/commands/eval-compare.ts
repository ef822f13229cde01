import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const evalCompareCommand = defineStageCommand({
  path: ['eval', 'compare'],
  summary: 'what changed between evaluations, with significance: metrics, distortions, behaviour, images',
  offers: [],
  shortcuts: [
    {
      flags: '[results...]',
      key: 'results',
      description: 'result folders of "eval run", the baseline first; or files of predictions',
    },
    { flags: '--json', key: 'json', description: 'print JSON instead of tables' },
    { flags: '--out <folder>', key: 'output', description: 'folder for compare.json and compare.html' },
    { flags: '--images <folder>', key: 'images', description: 'where the pictures of the page are' },
    { flags: '--most <n>', key: 'most', description: 'how many changed images to list', parse: parseNumber },
  ],
  load: async () => (await import('../stages/eval-compare.ts')).evalCompareStage,
});
