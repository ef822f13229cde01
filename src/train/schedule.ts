import { type LearningRateSchedule, learningRateAt } from '../rl/index.ts';
import type { OptimizerSettings } from './settings.ts';

/** Learning rate of a step of a phase of `totalSteps`. */
export function learningRateOf(settings: OptimizerSettings, totalSteps: number, step: number): number {
  const schedule: LearningRateSchedule = {
    kind: settings.schedule,
    peak: settings.learningRate,
    warmupSteps: Math.round(settings.warmupShare * totalSteps),
    totalSteps,
    final: settings.finalShare * settings.learningRate,
  };
  return learningRateAt(schedule, step);
}
