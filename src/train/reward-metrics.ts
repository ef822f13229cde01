import type { RewardValue } from '../core/index.ts';
import { IQA_TERMS } from '../env/index.ts';
import { meanRepetition } from '../rl/index.ts';
import type { RolloutSample } from './rollouts.ts';

/**
 * What GRPO logs about a rollout batch, each reward term under its own name. Missing rewards are counted, not
 * averaged in; a term that applies to no sample has no row.
 */
export function rewardMetrics(samples: readonly RolloutSample[]): Record<string, number> {
  if (samples.length === 0) return {};
  const values: Record<string, number> = {};
  const record = (name: string, numbers: readonly number[]): void => {
    if (numbers.length === 0) return;
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    values[`${name}/mean`] = mean;
    values[`${name}/std`] = Math.sqrt(
      numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length,
    );
  };
  const known = (rewards: readonly (RewardValue | undefined)[]): number[] =>
    rewards.flatMap((reward) => (reward?.status === 'ok' ? [reward.value] : []));
  record('reward', known(samples.map(({ reward }) => reward)));
  for (const term of IQA_TERMS)
    record(`reward/${term}`, known(samples.map(({ parts }) => parts.terms[term])));
  for (const term of Object.keys(samples[0]!.extra)) {
    record(`reward/${term}`, known(samples.map(({ extra }) => extra[term])));
  }
  record(
    'error',
    samples.flatMap(({ parts: { answer }, prompt }) =>
      answer.status === 'ok' && answer.score !== undefined
        ? [Math.abs(answer.score - prompt.target.mos)]
        : [],
    ),
  );
  const lengths = samples.map(({ completion }) => completion.tokenIds.length);
  values['completions/mean_length'] = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  values['completions/min_length'] = Math.min(...lengths);
  values['completions/max_length'] = Math.max(...lengths);
  values['completions/clipped_ratio'] =
    samples.filter(({ completion }) => completion.finishReason === 'length').length / samples.length;
  values['completions/unparsable_ratio'] =
    samples.filter(({ parts }) => parts.answer.status !== 'ok').length / samples.length;
  const repetition = meanRepetition(samples.map(({ completion }) => completion));
  if (repetition !== null) values['completions/repetition'] = repetition;
  return values;
}
