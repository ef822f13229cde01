import { ConfigError } from '../../core/index.ts';
import type { GrpoConfig } from '../../train/index.ts';

/** ConfigError for a reward that the trainer cannot compute yet, before anything is loaded. */
export function refuseBlindReward({ rubric }: GrpoConfig): void {
  if (rubric.consistency.blind.weight === 0) return;
  throw new ConfigError(
    `rubric.consistency.blind.weight is ${rubric.consistency.blind.weight}, only 0 can be trained with`,
    {
      hint:
        'the blind reward needs a model that scores the reasoning without the picture, which q-ponder train does not have; ' +
        'rubric.consistency.level.weight and rubric.consistency.distortions.weight reward consistency',
    },
  );
}
