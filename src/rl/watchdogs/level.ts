import { finiteOf, type Judge, meanOf, remember, short } from './judge.ts';

interface LevelSettings {
  metric: string;
  threshold: number;
  window: number;
}

/** Bad while the mean of the last `window` values lies beyond the threshold; nothing is said of fewer values. */
export const levelJudge =
  ({ metric, threshold, window }: LevelSettings, side: 'at least' | 'at most', unit = ''): Judge =>
  (metrics, memory) => {
    const now = finiteOf(metrics, metric);
    if (now === null) return null;
    const recent = remember(memory, metric, now, window);
    if (recent.length < window) return null;
    const value = meanOf(recent);
    return {
      value,
      threshold,
      bad: side === 'at least' ? value < threshold : value > threshold,
      finding: `${metric} is ${short(value)}${unit} over ${window} step(s), allowed is ${side} ${short(threshold)}`,
      metrics: [metric],
    };
  };
