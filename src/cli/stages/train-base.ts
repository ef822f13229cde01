import { type BaseConfig, baseConfigSchema, trainBase } from '../../train/index.ts';
import type { Stage } from '../stage-command.ts';
import { startFor } from './engine.ts';

export const trainBaseStage: Stage<BaseConfig> = {
  schema: baseConfigSchema,
  async run(config, context) {
    await startFor(context);
    const { model, typeAccuracy } = await trainBase(config, context);
    context.print(`${model}: validation distortion type ${(100 * typeAccuracy).toFixed(1)} %`);
  },
};
