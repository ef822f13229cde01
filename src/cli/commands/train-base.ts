import { defineStageCommand } from '../stage-command.ts';

export const trainBaseCommand = defineStageCommand({
  path: ['train', 'base'],
  summary: 'stage 0: teach a new miniature to see and name distortions, without any score',
  offers: ['backend', 'threads'],
  continues: true,
  shortcuts: [
    { flags: '--run <folder>', key: 'run', description: 'run folder' },
    { flags: '--data <folder>', key: 'dataset', description: 'data set folder' },
    { flags: '--tensorboard', key: 'tensorboard', description: 'also write TensorBoard event files' },
  ],
  load: async () => (await import('../stages/train-base.ts')).trainBaseStage,
});
