import { type GrpoConfig, grpoConfigSchema, trainGrpo } from '../../train/index.ts';
import type { Stage } from '../stage-command.ts';
import { refuseBlindReward } from './blind-reward.ts';
import { startFor } from './engine.ts';
import { describeStageResult } from './stage-result.ts';

export const trainGrpoStage: Stage<GrpoConfig> = {
  schema: grpoConfigSchema,
  async run(config, context) {
    refuseBlindReward(config);
    await startFor(context);
    context.print(describeStageResult(await trainGrpo(config, context)));
  },
};
