import { ConfigError } from '../core/index.ts';

export interface LearningRateSchedule {
  kind: 'constant' | 'linear' | 'cosine';
  /** Learning rate after warm-up, > 0. */
  peak: number;
  /** Steps of linear rise; 0 starts at the peak. Default 0. */
  warmupSteps?: number;
  /** Steps of the whole run, warm-up included. */
  totalSteps: number;
  /** Learning rate that `linear` and `cosine` reach at `totalSteps`, >= 0. Default 0. */
  final?: number;
}

/**
 * The learning rate of a step, a pure function, so that a resumed run needs no state for it. Steps count from
 * 0; step s of the warm-up has (s + 1) / warmupSteps of the peak, so that no step is wasted at 0. The cosine
 * is half a period without restarts (Loshchilov and Hutter, SGDR, arXiv 1608.03983, equation 5).
 */
export function learningRateAt(schedule: LearningRateSchedule, step: number): number {
  const { kind, peak, warmupSteps = 0, totalSteps, final = 0 } = schedule;
  if (!(peak > 0) || !(final >= 0) || !(warmupSteps >= 0) || !(totalSteps >= 1)) {
    throw new ConfigError(
      `learning-rate schedule: peak ${peak}, final ${final}, warmupSteps ${warmupSteps}, totalSteps ${totalSteps}`,
      { hint: 'peak > 0, final >= 0, warmupSteps >= 0 and totalSteps >= 1 are needed' },
    );
  }
  requireStep(step);
  if (step < warmupSteps) return (peak * (step + 1)) / warmupSteps;
  if (kind === 'constant') return peak;
  const span = totalSteps - warmupSteps;
  const progress = span <= 0 ? 1 : Math.min(1, (step - warmupSteps) / span);
  const remaining = kind === 'linear' ? 1 - progress : 0.5 * (1 + Math.cos(Math.PI * progress));
  return final + (peak - final) * remaining;
}

export interface LinearSchedule {
  from: number;
  to: number;
  /** Up to this step the value is `from`. */
  startStep: number;
  /** From this step on the value is `to`. */
  endStep: number;
}

/** A weight that moves in a straight line between two steps and rests outside them. */
export function linearAt({ from, to, startStep, endStep }: LinearSchedule, step: number): number {
  if (!(endStep >= startStep)) {
    throw new ConfigError(`linear schedule ends at step ${endStep}, before it starts at ${startStep}`);
  }
  requireStep(step);
  if (step >= endStep) return to;
  if (step <= startStep) return from;
  return from + ((to - from) * (step - startStep)) / (endStep - startStep);
}

function requireStep(step: number): void {
  if (!(step >= 0)) throw new RangeError(`schedule: step is ${step}, allowed is >= 0`);
}
