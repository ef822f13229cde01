import { defineStageCommand } from '../stage-command.ts';

export const modelMergeCommand = defineStageCommand({
  path: ['model', 'merge'],
  summary: 'write an adapter and its base as one model folder',
  offers: [],
  shortcuts: [
    { flags: '[folder]', key: 'adapter', description: 'adapter folder: of a training with lora, or of PEFT' },
    { flags: '--out <folder>', key: 'output', description: 'new folder' },
    { flags: '--dtype <type>', key: 'dtype', description: 'F32, BF16 (default) or F16' },
    {
      flags: '--max-shard-size <size>',
      key: 'maxShardSize',
      description: 'most of weights in one file, for example 500MB; default 5GB',
    },
    {
      flags: '--names <style>',
      key: 'names',
      description: 'names of the tensors: released (default) or new (transformers from 4.52 on)',
    },
  ],
  load: async () => (await import('../stages/model-merge.ts')).modelMergeStage,
});
