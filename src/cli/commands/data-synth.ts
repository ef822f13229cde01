import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const dataSynthCommand = defineStageCommand({
  path: ['data', 'synth'],
  summary: 'generate images with distortions and rated quality',
  offers: ['threads'],
  shortcuts: [
    { flags: '--out <folder>', key: 'output', description: 'folder to write the data set to' },
    { flags: '--photos <folder>', key: 'photos', description: 'undistorted photographs to crop scenes from' },
    {
      flags: '--from <folder>',
      key: 'from.folder',
      description: 'pristine photographs to distort whole, every type at every level',
    },
    { flags: '--seed <n>', key: 'seed', description: 'same seed, same bytes', parse: parseNumber },
  ],
  load: async () => (await import('../stages/data-synth.ts')).dataSynthStage,
});
