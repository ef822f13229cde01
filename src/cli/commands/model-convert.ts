import { defineStageCommand, type Shortcut } from '../stage-command.ts';

/** How and where weights are written. */
export const WEIGHTS_SHORTCUTS = [
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
] satisfies Shortcut[];

export const modelConvertCommand = defineStageCommand({
  path: ['model', 'convert'],
  summary: 'write a model folder again: another type, other shards, other names of tensors',
  offers: [],
  shortcuts: [{ flags: '[folder]', key: 'model', description: 'model folder' }, ...WEIGHTS_SHORTCUTS],
  load: async () => (await import('../stages/model-convert.ts')).modelConvertStage,
});
