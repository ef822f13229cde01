import type { WatchdogConfig } from './config.ts';
import { finiteOf, type Judge, remember, short } from './judge.ts';

/**
 * Bad while the gradient norm, before clipping, is a multiple of the median of the last good ones. Bad norms do not
 * enter the median, or a long explosion would become the measure of itself.
 */
export const gradientExplosionJudge =
  ({ metric, threshold, window, minimum }: WatchdogConfig['gradientNorm']): Judge =>
  (metrics, memory) => {
    const value = finiteOf(metrics, metric);
    if (value === null) return null;
    const good = memory.series[metric] ?? [];
    if (good.length < window) {
      remember(memory, metric, value, window);
      return null;
    }
    const median = medianOf(good);
    const limit = Math.max(threshold * median, minimum);
    const bad = value > limit;
    if (!bad) remember(memory, metric, value, window);
    return {
      value,
      threshold: limit,
      bad,
      finding:
        `${metric} is ${short(value)}, allowed is at most ${short(limit)} ` +
        `(the larger of ${short(minimum)} and ${short(threshold)} times the median ${short(median)} of ${window} good steps)`,
      metrics: [metric],
    };
  };

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1]!;
  return sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >> 1) - 1]! + upper) / 2;
}
