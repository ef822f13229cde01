import type { WatchdogConfig } from './config.ts';
import { finiteOf, type Judge, meanOf, remember, short } from './judge.ts';

/** Bad while the mean length is further from that of the run's first steps than a factor, up or down. */
export const lengthDriftJudge =
  ({ metric, threshold, window, baseline }: WatchdogConfig['length']): Judge =>
  (metrics, memory) => {
    const now = finiteOf(metrics, metric);
    if (now === null) return null;
    const first = memory.series.baseline ?? [];
    if (first.length < baseline) memory.series.baseline = [...first, now];
    const recent = remember(memory, metric, now, window);
    if (first.length < baseline || recent.length < window) return null;
    const start = meanOf(first);
    if (start === 0) return null; // Nothing is a multiple of no length.
    const value = meanOf(recent) / start;
    return {
      value,
      threshold: value < 1 ? 1 / threshold : threshold,
      bad: value > threshold || value < 1 / threshold,
      finding:
        `${metric} is ${short(value)} times that of the first ${baseline} steps (${short(start)}), ` +
        `allowed is ${short(1 / threshold)} to ${short(threshold)} times`,
      metrics: [metric],
    };
  };
