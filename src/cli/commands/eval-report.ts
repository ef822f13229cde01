import { defineStageCommand } from '../stage-command.ts';

export const evalReportCommand = defineStageCommand({
  path: ['eval', 'report'],
  summary: 'write one page of results, curves and predictions: of a run, a suite, a demo, or several of them',
  offers: [],
  shortcuts: [
    {
      flags: '[folders...]',
      key: 'folders',
      description: 'run folders, outputs of eval run, suite results, demo folders',
    },
    { flags: '--out <file>', key: 'output', description: 'the page, default report.html' },
    { flags: '--title <text>', key: 'title', description: 'title of the page' },
    { flags: '--images <folder>', key: 'images', description: 'folder that image paths are relative to' },
    { flags: '--baseline <model>', key: 'baseline', description: 'model that the others are compared with' },
  ],
  load: async () => (await import('../stages/eval-report.ts')).evalReportStage,
});
