import type { WatchdogConfig } from './config.ts';
import { finiteOf, type Judge, meanOf, remember, short } from './judge.ts';
import type { Memory } from './state.ts';

/** The whole reward and each of its terms. */
const MEAN_REWARD = /^reward(\/.+)?\/mean$/;

/**
 * Bad is a validation at which the correlation lies further below its best than the threshold, while the moving mean
 * of a reward has risen since that best: the policy is paid ever more for doing worse.
 *
 * A reward whose window was not full at the best validation is compared with its first full window after it.
 */
export const rewardHackingJudge =
  ({ metric, threshold, window, rise }: WatchdogConfig['rewardHacking']): Judge =>
  (metrics, memory) => {
    for (const name of Object.keys(metrics)) {
      const value = MEAN_REWARD.test(name) ? finiteOf(metrics, name) : null;
      if (value !== null) remember(memory, name, value, window);
    }
    const means = rewardMeans(memory, window);
    const best = memory.reference[metric];
    if (best !== undefined) memory.reference = { ...means, ...memory.reference };

    const correlation = finiteOf(metrics, metric);
    if (correlation === null) return null;
    if (best === undefined || correlation >= best) memory.reference = { ...means, [metric]: correlation };
    const value = memory.reference[metric]! - correlation;
    const risen = Object.entries(means)
      .map(([name, now]) => ({ name, now, before: memory.reference[name]! }))
      .sort((a, b) => b.now - b.before - (a.now - a.before))[0];
    const bad = value > threshold && risen !== undefined && risen.now - risen.before >= rise;
    return {
      value,
      threshold,
      bad,
      finding: bad
        ? `${risen.name} rose from ${short(risen.before)} to ${short(risen.now)} while ${metric} fell from ` +
          `${short(memory.reference[metric]!)} to ${short(correlation)}, allowed is a fall of at most ${short(threshold)}`
        : `${metric} is ${short(value)} below its best`,
      metrics: bad ? [risen.name, metric] : [metric],
    };
  };

/** Of the rewards with a full window. */
function rewardMeans({ series }: Memory, window: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(series)
      .filter(([, values]) => values.length === window)
      .map(([name, values]) => [name, meanOf(values)]),
  );
}
