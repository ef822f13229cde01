import { CheckpointError, ConfigError, listNames, type RewardValue, type Rng } from '../../core/index.ts';
import { average } from '../advantages/statistics.ts';
import { type DifficultyConfig, difficultyWeight, drawProbabilities, groupSuccess } from './difficulty.ts';

/** What is remembered of each prompt that was tried: its average, or its newest successes, oldest first. */
export interface DifficultyState {
  recent: Record<string, number[]>;
}

/**
 * Draws prompts by how well the policy did on them lately. Its memory is part of a checkpoint: of the curricula
 * this one alone depends on more than the step.
 */
export class DifficultySampler {
  readonly #config: DifficultyConfig;
  readonly #ids: readonly string[];
  readonly #recent = new Map<string, number[]>();
  readonly #known: ReadonlySet<string>;

  /** @param ids of all prompts, each once */
  constructor(config: DifficultyConfig, ids: readonly string[]) {
    this.#config = config;
    this.#ids = [...ids];
    this.#known = new Set(ids);
    if (ids.length === 0) throw new ConfigError('difficulty: there is no prompt to draw from');
    if (this.#known.size < ids.length) {
      throw new ConfigError(`difficulty: ${ids.length - this.#known.size} prompt ids are there twice`);
    }
  }

  /**
   * Remembers a group: with exponential memory s <- (1 - share) s + share s_new from the second group on, with a
   * window the newest successes. A group without a usable reward says nothing.
   */
  observe(id: string, rewards: readonly RewardValue[]): void {
    if (!this.#known.has(id)) throw new RangeError(`difficulty: ${id} is none of the prompts`);
    const success = groupSuccess(rewards, this.#config.success);
    if (success === null) return;
    const past = this.#recent.get(id) ?? [];
    this.#recent.set(id, this.#remembered(past, success));
  }

  /** Recent success of a prompt in [0, 1]; null if it was never tried. */
  success(id: string): number | null {
    const recent = this.#recent.get(id);
    return recent === undefined ? null : average(recent);
  }

  /** Of the first draw of a batch, in the order of the prompts. */
  probabilities(): number[] {
    const { weight, floor } = this.#config;
    return drawProbabilities(
      this.#ids.map((id) => difficultyWeight(this.success(id), weight)),
      floor,
    );
  }

  /**
   * Different prompts, each drawn by its probability among those that are left: the largest keys log(u) / p, u
   * uniform (Efraimidis and Spirakis, Information Processing Letters 97, 2006, algorithm A). ConfigError for more
   * prompts than there are.
   */
  draw(count: number, rng: Rng): string[] {
    if (!Number.isInteger(count) || count < 0 || count > this.#ids.length) {
      throw new ConfigError(`difficulty: ${count} prompts wanted, allowed are 0 to ${this.#ids.length}`, {
        hint: 'take fewer prompts per step, or more data: a prompt drawn twice would mix two groups',
      });
    }
    const probabilities = this.probabilities();
    return this.#ids
      .map((id, i) => ({ id, key: Math.log(1 - rng.uniform()) / (probabilities[i] as number) }))
      .sort((a, b) => b.key - a.key)
      .slice(0, count)
      .map(({ id }) => id);
  }

  /** Plain data for a checkpoint. */
  state(): DifficultyState {
    return { recent: Object.fromEntries([...this.#recent].map(([id, recent]) => [id, [...recent]])) };
  }

  /** CheckpointError for prompts that are not there. */
  restore(state: DifficultyState): void {
    const unknown = Object.keys(state.recent).filter((id) => !this.#known.has(id));
    if (unknown.length > 0) {
      throw new CheckpointError(`difficulty: the checkpoint knows other prompts: ${listNames(unknown)}`, {
        hint: 'resume with the data set that the run started with',
      });
    }
    this.#recent.clear();
    for (const [id, recent] of Object.entries(state.recent)) this.#recent.set(id, [...recent]);
  }

  #remembered(past: readonly number[], success: number): number[] {
    const { memory } = this.#config;
    if (memory.kind === 'window') return [...past, success].slice(-memory.groups);
    const [before] = past;
    return [before === undefined ? success : (1 - memory.share) * before + memory.share * success];
  }
}
