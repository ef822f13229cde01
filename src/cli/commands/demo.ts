import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const demoCommand = defineStageCommand({
  path: ['demo'],
  summary: 'the whole job on generated images: data, teacher, cold start, GRPO, evaluation, report',
  offers: ['backend', 'threads'],
  continues: true,
  shortcuts: [
    { flags: '--out <folder>', key: 'output', description: 'folder for everything (default .q-ponder/demo)' },
    {
      flags: '--minutes <n>',
      key: 'minutes',
      description: 'size of the job: 12 (default) is the full size and takes at most this long on two cores',
      parse: parseNumber,
    },
    { flags: '--seed <n>', key: 'seed', description: 'seed of data and training', parse: parseNumber },
    { flags: '--from-scratch', key: 'fromScratch', description: 'train the base first (up to 2 hours more)' },
  ],
  load: async () => (await import('../stages/demo.ts')).demoStage,
});
