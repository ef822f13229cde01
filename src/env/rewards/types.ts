import type { RewardValue } from '../../core/index.ts';
import type { NamedDistortion } from '../../data/index.ts';
import type { IqaTarget } from '../iqa/index.ts';

/** What a user's reward is told about one completion. Plain data: it is copied into other processes and JSON. */
export interface RewardSample {
  /** Of the image in its data set. */
  id: string;
  dataset: string;
  /** Path of the image file. */
  image: string;
  /** The question as text, without the image. */
  prompt: string;
  /** The whole answer of the model. */
  completion: string;
  /** What stands before the answer block, where there is one. */
  reasoning: string | null;
  /** The score that the completion gives, on [1, 5]; null where none can be read. */
  score: number | null;
  /** Mean opinion score of the image, on [1, 5], and the standard deviation of the raters where known. */
  mos: number;
  mosStd: number | null;
  /** Distortions that are known to be there; null where nobody knows. */
  distortions: NamedDistortion[] | null;
  /** Training step from 0, the prompt's place in the step, and the completion's place among those of its prompt. */
  step: number;
  group: number;
  index: number;
}

/**
 * A user's reward: one finite number for each sample, in their order. It may be slow and may throw: its deadline
 * and its process contain it.
 */
export type RewardFunction = (
  samples: readonly RewardSample[],
) => readonly number[] | Promise<readonly number[]>;

/** What a reward module exports, as default or under the name `score`: the function, or the function with its batch size. */
export type RewardModule = RewardFunction | { score: RewardFunction; batchSize?: number };

/** One prompt of a step with its completions. */
export interface RewardGroup {
  id: string;
  image: string;
  prompt: string;
  target: IqaTarget;
  texts: readonly string[];
}

export interface RewardTermsContext {
  /** Keys by the name of their variable: what the environment holds. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** A picture as a data URL. Needed by judges that see pictures. */
  pictureUrl?: ((path: string) => Promise<string>) | undefined;
  /** Ends `score`, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Takes lines that a reward file prints, and other remarks. */
  note?: ((line: string) => void) | undefined;
}

/** The terms of one completion, and their weighted sum. */
export interface ExtraReward {
  /** Every term by its name, whatever its weight. */
  terms: Record<string, RewardValue>;
  /** Sum of weight * value; missing as soon as a term with a weight is missing. 0 without terms. */
  total: RewardValue;
}

/** Counts of one term. */
export interface RewardTermCounts {
  /** Completions scored, and those of them without a value. */
  samples: number;
  missing: number;
  /** Tries of calls that ended in a deadline or another error, and tries after the first. */
  timeouts: number;
  errors: number;
  retries: number;
  /** Values that were no finite number, and numbers outside the range. */
  invalid: number;
  outOfRange: number;
  /** Calls that were not made because the ones before them had all failed. */
  skipped: number;
}

export interface RewardTermsScore {
  /** As the groups were given, one entry for each text. */
  groups: ExtraReward[][];
  /** Weights of this step by name. */
  weights: Record<string, number>;
  /** Of this call, by the name under `reward/<term>/`: mean, std, weight, missing, timeouts, ..., seconds. */
  metrics: Record<string, number>;
}

export interface RewardTerms {
  readonly names: readonly string[];
  /** Weights of a step by name, a pure function of the step. */
  weightsAt(step: number): Record<string, number>;
  /** Scores all completions of a step. Failures are missing rewards; only an abort rejects. */
  score(step: number, groups: readonly RewardGroup[]): Promise<RewardTermsScore>;
  /** Since the terms were made, by name. */
  counts(): Record<string, RewardTermCounts>;
  /** Ends processes and calls. */
  close(): Promise<void>;
}
