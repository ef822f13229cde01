import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const dataSplitCommand = defineStageCommand({
  path: ['data', 'split'],
  summary: 'draw train and test splits by group, seeded and repeated; each becomes a data set folder',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'data', description: 'data set folder' },
    { flags: '--out <folder>', key: 'output', description: 'folder to write the splits to' },
    { flags: '--repeats <n>', key: 'repeats', description: 'splits to draw, default 10', parse: parseNumber },
    { flags: '--rule <name>', key: 'rule', description: 'group (default) or official' },
    { flags: '--seed <n>', key: 'seed', description: 'same seed, same splits', parse: parseNumber },
  ],
  load: async () => (await import('../stages/data-split.ts')).dataSplitStage,
});
