import { performance } from 'node:perf_hooks';
import type { z } from 'zod';
import { ConfigError, parseAnswer, printable, type RewardValue } from '../../core/index.ts';
import { quoter } from '../../remote/index.ts';
import type { Caller } from './call.ts';
import { type RewardTermConfig, type RewardTermsConfig, rewardTermsConfigSchema } from './config.ts';
import { createFileCaller } from './file-term.ts';
import { createHttpCaller } from './http-term.ts';
import { createJudgeCaller } from './judge-term.ts';
import { noCounts, type RunningTerm, runTerm } from './run-term.ts';
import { stepMetrics } from './step-metrics.ts';
import type {
  ExtraReward,
  RewardGroup,
  RewardSample,
  RewardTermCounts,
  RewardTerms,
  RewardTermsContext,
} from './types.ts';
import { rewardWeightAt } from './weight.ts';

/** A shorter key is a placeholder, and would blank out half of every message. */
const SHORTEST_SECRET = 4;

/** The files that the terms' results depend on: reward files and judge prompts. A run's inputs. */
export const rewardFiles = (config: RewardTermsConfig): string[] =>
  config.flatMap((term) => {
    if (term.kind === 'file') return [term.path];
    return term.kind === 'judge' && term.prompt.endsWith('.md') ? [term.prompt] : [];
  });

/** Sum of two rewards, missing with all reasons as soon as one is missing. */
export function addRewards(a: RewardValue, b: RewardValue): RewardValue {
  const reasons = [a, b].flatMap((reward) => (reward.status === 'missing' ? [reward.reason] : []));
  if (a.status === 'ok' && b.status === 'ok') return { status: 'ok', value: a.value + b.value };
  return { status: 'missing', reason: reasons.join('; ') };
}

function samplesOf(step: number, groups: readonly RewardGroup[]): RewardSample[] {
  return groups.flatMap(({ id, image, prompt, target, texts }, group) =>
    texts.map((completion, index) => {
      const { reasoning, status, score } = parseAnswer(completion);
      return {
        id,
        dataset: target.dataset,
        image,
        prompt,
        completion,
        reasoning: reasoning ?? null,
        score: status === 'ok' ? (score ?? null) : null,
        mos: target.mos,
        mosStd: target.mosStd ?? null,
        distortions: target.referenceDistortions?.map((named) => ({ ...named })) ?? null,
        step,
        group,
        index,
      };
    }),
  );
}

function keyOfTerm(term: RewardTermConfig, { environment = {} }: RewardTermsContext): string | undefined {
  if (term.kind === 'file' || term.keyVariable === null) return undefined;
  const key = environment[term.keyVariable]?.trim();
  if (key) return key;
  throw new ConfigError(
    `the environment variable ${term.keyVariable} of the reward ${term.name} is not set`,
    {
      hint: 'set it to the key, or keyVariable to null if the server wants none',
    },
  );
}

/** What others wrote, without any of the keys. */
function redactorOf(keys: readonly (string | undefined)[]): (said: string) => string {
  const secrets = keys.filter((key) => key !== undefined && key.length >= SHORTEST_SECRET) as string[];
  return (said) => secrets.reduce((text, secret) => text.replaceAll(secret, '[key]'), said);
}

/**
 * Opens the reward terms beside those of the rubric: users' files, servers and judges. They run beside each other, and
 * each keeps to its own deadlines, so a step takes as long as its slowest term.
 *
 * @throws ConfigError for a term that cannot begin: a file that does not load, a key that is not there
 */
export async function createRewardTerms(
  settings: z.input<typeof rewardTermsConfigSchema>,
  context: RewardTermsContext = {},
): Promise<RewardTerms> {
  const config = rewardTermsConfigSchema.parse(settings);
  const keys = config.map((term) => keyOfTerm(term, context));
  const redact = redactorOf(keys);
  const line = quoter(null);
  // Keys go first: cutting the line could leave half of one.
  const quote = (said: string): string => line(redact(said));
  const print = (said: string): void => context.note?.(printable(redact(said)));
  const open = (term: RewardTermConfig, key: string | undefined): Promise<Caller> | Caller => {
    if (term.kind === 'file') return createFileCaller(term, print, quote);
    return term.kind === 'http' ? createHttpCaller(term, key) : createJudgeCaller(term, context, key);
  };
  const running: RunningTerm[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(running.map(({ caller }) => caller.close()));
  };
  try {
    for (const [at, term] of config.entries()) {
      running.push({ config: term, caller: await open(term, keys[at]), counts: noCounts() });
    }
  } catch (error) {
    await close();
    throw error;
  }
  const weightsAt = (step: number): Record<string, number> =>
    Object.fromEntries(config.map(({ name, weight }) => [name, rewardWeightAt(weight, step)]));

  return {
    names: config.map(({ name }) => name),
    weightsAt,
    async score(step, groups) {
      const weights = weightsAt(step);
      const samples = samplesOf(step, groups);
      const columns = await Promise.all(
        running.map(async (term) => {
          const before = { ...term.counts };
          const began = performance.now();
          const values = await runTerm(term, samples, quote, context.signal);
          const seconds = (performance.now() - began) / 1000;
          const { name } = term.config;
          return { name, values, metrics: stepMetrics(name, values, before, term.counts, seconds) };
        }),
      );
      const rewards = samples.map((_sample, at): ExtraReward => {
        const terms = Object.fromEntries(
          columns.map(({ name, values }) => [name, values[at] as RewardValue]),
        );
        let total: RewardValue = { status: 'ok', value: 0 };
        for (const [name, reward] of Object.entries(terms)) {
          const weight = weights[name] as number;
          if (weight === 0) continue;
          total = addRewards(
            total,
            reward.status === 'ok' ? { status: 'ok', value: weight * reward.value } : reward,
          );
        }
        return { terms, total };
      });
      let next = 0;
      return {
        groups: groups.map(({ texts }) => {
          next += texts.length;
          return rewards.slice(next - texts.length, next);
        }),
        weights,
        metrics: Object.assign(
          Object.fromEntries(
            Object.entries(weights).map(([name, weight]) => [`reward/${name}/weight`, weight]),
          ),
          ...columns.map(({ metrics }) => metrics),
        ) as Record<string, number>,
      };
    },
    counts: () =>
      Object.fromEntries(
        running.map(({ config: { name }, counts }): [string, RewardTermCounts] => [name, { ...counts }]),
      ),
    close,
  };
}
