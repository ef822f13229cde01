import { pictureUrl } from '../../evaluate/index.ts';
import { type GrpoConfig, grpoConfigSchema, trainGrpo } from '../../train/index.ts';
import type { Stage } from '../stage-command.ts';
import { startFor } from './engine.ts';
import { describeStageResult } from './stage-result.ts';

/** Largest picture that a judge is sent, in pixels. */
const JUDGED_PIXELS = 1_048_576;

export const trainGrpoStage: Stage<GrpoConfig> = {
  schema: grpoConfigSchema,
  async run(config, context) {
    await startFor(context);
    const result = await trainGrpo(config, {
      progress: context.progress,
      signal: context.signal,
      environment: process.env,
      pictureUrl: (path) => pictureUrl(path, JUDGED_PIXELS),
    });
    context.print(describeStageResult(result));
  },
};
