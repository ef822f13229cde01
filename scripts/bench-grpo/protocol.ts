/**
 * A contestant writes `READY {Ready}` once, then one `STEP {Step}` per line that it reads. In between it waits for
 * its standard input and uses no processor.
 */
export const READY_PREFIX = 'READY ';
export const STEP_PREFIX = 'STEP ';

export interface Ready {
  /** Library, version, threads and whatever else decides its speed. */
  description: string;
}

/** One GRPO iteration: rollouts, rewards, one optimiser step. All times in seconds. */
export interface Step {
  seconds: number;
  /** Of all threads. */
  processorSeconds: number;
  rollout: number;
  reward: number;
  update: number;
  /** Completions sampled. */
  completions: number;
  /** Tokens of all completions, end tokens included. */
  tokens: number;
  /** Mean reward, to see that both do the same work. */
  rewardMean: number;
}

/** What both contestants are given, as a file. */
export interface Task {
  /** Model folder in Hugging Face layout. */
  model: string;
  /** Data set folder, made of the first pictures of the one that was named. */
  data: string;
  /** The question as text. */
  question: string;
  steps: number;
  prompts: number;
  groupSize: number;
  maxNewTokens: number;
  learningRate: number;
  klCoefficient: number;
  /** Width of the reward exp(-(score - MOS)^2 / (2 sigma^2)). */
  sigma: number;
  seed: number;
}
