import { z } from 'zod';
import { mergeAdapter } from '../../model/index.ts';
import type { Stage } from '../stage-command.ts';
import { modelConvertConfigSchema, parseSize } from './model-convert.ts';

const modelMergeConfigSchema = modelConvertConfigSchema
  .omit({ model: true })
  .extend({ adapter: z.string().min(1).describe('adapter folder; its adapter_config.json names the base') });
type ModelMergeConfig = z.infer<typeof modelMergeConfigSchema>;

export const modelMergeStage: Stage<ModelMergeConfig> = {
  schema: modelMergeConfigSchema,
  async run({ adapter, output, dtype, maxShardSize, names }, { progress, signal, print }) {
    const maxShardBytes = parseSize(maxShardSize);
    await mergeAdapter(adapter, output, { dtype, maxShardBytes, names, progress, signal });
    print(output);
  },
};
