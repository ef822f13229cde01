import { defineStageCommand } from '../stage-command.ts';

export const trainColdStartCommand = defineStageCommand({
  path: ['train', 'cold-start'],
  summary: "stage 1: distil a teacher's reasoning into the model (Q-Ponder-CI)",
  offers: ['backend', 'threads'],
  continues: true,
  shortcuts: [
    { flags: '--run <folder>', key: 'run', description: 'run folder' },
    { flags: '--model <folder>', key: 'model', description: 'checkpoint to start from' },
    { flags: '--data <folder>', key: 'dataset', description: 'data set folder' },
    { flags: '--rows <file>', key: 'rows', description: 'accepted.jsonl of q-ponder distill' },
    { flags: '--tensorboard', key: 'tensorboard', description: 'also write TensorBoard event files' },
  ],
  load: async () => (await import('../stages/train-cold-start.ts')).trainColdStartStage,
});
