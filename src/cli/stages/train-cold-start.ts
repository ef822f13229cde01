import { type ColdStartConfig, coldStartConfigSchema, trainColdStart } from '../../train/index.ts';
import type { Stage } from '../stage-command.ts';
import { startFor } from './engine.ts';
import { describeStageResult } from './stage-result.ts';

export const trainColdStartStage: Stage<ColdStartConfig> = {
  schema: coldStartConfigSchema,
  async run(config, context) {
    await startFor(context);
    context.print(describeStageResult(await trainColdStart(config, context)));
  },
};
