import { defineStageCommand, parseNumber } from '../stage-command.ts';

export const trainGrpoCommand = defineStageCommand({
  path: ['train', 'grpo'],
  summary: 'stage 2: GRPO for scoring accuracy and reasoning consistency (Q-Ponder)',
  offers: ['backend', 'threads'],
  continues: true,
  shortcuts: [
    { flags: '--run <folder>', key: 'run', description: 'run folder' },
    { flags: '--model <folder>', key: 'model', description: 'cold-start model folder' },
    { flags: '--data <folder>', key: 'dataset', description: 'data set folder' },
    {
      flags: '--rows <file>',
      key: 'teacherRows',
      description: 'teacher rows to agree with about distortions',
    },
    {
      flags: '--updates-per-batch <count>',
      key: 'updatesPerBatch',
      description: 'optimiser steps on each rollout batch',
      parse: parseNumber,
    },
    { flags: '--tensorboard', key: 'tensorboard', description: 'also write TensorBoard event files' },
  ],
  load: async () => (await import('../stages/train-grpo.ts')).trainGrpoStage,
});
