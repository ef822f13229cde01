import type { RewardValue } from '../../core/index.ts';
import type { RewardTermCounts } from './types.ts';

/** Names under which counts are logged. */
const METRIC_OF: Record<Exclude<keyof RewardTermCounts, 'samples'>, string> = {
  missing: 'missing',
  timeouts: 'timeouts',
  errors: 'errors',
  retries: 'retries',
  invalid: 'invalid',
  outOfRange: 'out_of_range',
  skipped: 'skipped',
};

/**
 * What one term logs of a step: mean and standard deviation (of the population) of the values that are there, what
 * went wrong, and how long it took in seconds. No mean where every value is missing.
 */
export function stepMetrics(
  name: string,
  values: readonly RewardValue[],
  before: RewardTermCounts,
  after: RewardTermCounts,
  seconds: number,
): Record<string, number> {
  const known = values.flatMap((reward) => (reward.status === 'ok' ? [reward.value] : []));
  const metrics: Record<string, number> = { [`reward/${name}/seconds`]: seconds };
  if (known.length > 0) {
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    metrics[`reward/${name}/mean`] = mean;
    metrics[`reward/${name}/std`] = Math.sqrt(
      known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length,
    );
  }
  for (const [count, metric] of Object.entries(METRIC_OF)) {
    const key = count as keyof typeof METRIC_OF;
    metrics[`reward/${name}/${metric}`] = after[key] - before[key];
  }
  return metrics;
}
