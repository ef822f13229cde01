import { defineStageCommand } from '../stage-command.ts';
import { WEIGHTS_SHORTCUTS } from './model-convert.ts';

export const modelMergeCommand = defineStageCommand({
  path: ['model', 'merge'],
  summary: 'write an adapter and its base as one model folder',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'adapter', description: 'adapter folder: of a training with lora, or of PEFT' },
    ...WEIGHTS_SHORTCUTS,
  ],
  load: async () => (await import('../stages/model-merge.ts')).modelMergeStage,
});
