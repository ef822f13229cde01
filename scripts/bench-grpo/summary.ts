import type { Step } from './protocol.ts';

export interface Summary {
  name: string;
  /** Medians over the steps: seconds, shares of the iteration, tokens. */
  seconds: number;
  processorSeconds: number;
  shares: { rollout: number; reward: number; update: number; other: number };
  tokens: number;
  meanLength: number;
  /** Milliseconds per sampled token. */
  rolloutByToken: number;
  updateByToken: number;
  rewardMean: number;
  /** All iterations in order. */
  all: number[];
  /** As a row of a Markdown table. */
  row: string;
}

export function summarize(name: string, steps: readonly Step[]): Summary {
  const of = (value: (step: Step) => number): number => median(steps.map(value));
  const share = (value: (step: Step) => number): number => of((step) => value(step) / step.seconds);
  const shares = {
    rollout: share(({ rollout }) => rollout),
    reward: share(({ reward }) => reward),
    update: share(({ update }) => update),
    other: share(({ seconds, rollout, reward, update }) => seconds - rollout - reward - update),
  };
  const summary = {
    name,
    seconds: of(({ seconds }) => seconds),
    processorSeconds: of(({ processorSeconds }) => processorSeconds),
    shares,
    tokens: of(({ tokens }) => tokens),
    meanLength: of(({ tokens, completions }) => tokens / completions),
    rolloutByToken: of(({ rollout, tokens }) => (1000 * rollout) / tokens),
    updateByToken: of(({ update, tokens }) => (1000 * update) / tokens),
    rewardMean: of(({ rewardMean }) => rewardMean),
    all: steps.map(({ seconds }) => seconds),
  };
  const cells = [
    name,
    summary.seconds.toFixed(2),
    ...Object.values(shares).map((value) => `${(100 * value).toFixed(1)} %`),
    `${summary.tokens.toFixed(0)} (${summary.meanLength.toFixed(1)} a completion)`,
    summary.rolloutByToken.toFixed(3),
    summary.updateByToken.toFixed(3),
    summary.processorSeconds.toFixed(2),
    summary.rewardMean.toFixed(2),
  ];
  return { ...summary, row: `| ${cells.join(' | ')} |` };
}

/** How many times as fast the first is: ratios of medians, and of each pair. */
export function compare(ours: Summary, other: Summary) {
  return {
    against: other.name,
    iteration: other.seconds / ours.seconds,
    processor: other.processorSeconds / ours.processorSeconds,
    rollout: other.rolloutByToken / ours.rolloutByToken,
    update: other.updateByToken / ours.updateByToken,
    pairs: ours.all.map((seconds, i) => other.all[i]! / seconds),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
