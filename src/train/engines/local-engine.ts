import { ConfigError } from '../../core/index.ts';
import { generate, type VisionLanguageModel } from '../../model/index.ts';
import type { EngineGroup, EnginePrompt, EngineSampling, RolloutEngine } from './rollout-engine.ts';

/** The trainer's own model, all prompts in one batch. Nothing fails by halves: an error ends the call. */
export class LocalEngine implements RolloutEngine {
  readonly kind = 'local';
  #model: VisionLanguageModel | null = null;
  #version = 0;

  get version(): number {
    return this.#version;
  }

  async sample(
    prompts: readonly EnginePrompt[],
    { groupSize, maxNewTokens, temperature, rng, imageFeatures, signal }: EngineSampling,
  ): Promise<EngineGroup[]> {
    if (this.#model === null)
      throw new ConfigError('the rollout engine has no weights yet: synchronise comes before sample');
    const version = this.#version;
    const groups = await generate(
      this.#model,
      prompts.map(({ sequence }) => sequence),
      {
        samplesPerPrompt: groupSize,
        maxNewTokens,
        temperature,
        rng,
        ...(imageFeatures === undefined ? {} : { imageFeatures }),
        ...(signal === undefined ? {} : { signal }),
      },
    );
    return groups.map((completions) => ({
      completions: completions.map((completion) => ({ ...completion, version })),
      failures: [],
    }));
  }

  /** Keeps the model itself: its weights are the trainer's, so that an update needs no copy. */
  async synchronise(model: VisionLanguageModel, version: number): Promise<void> {
    this.#model = model;
    this.#version = version;
  }

  async close(): Promise<void> {
    this.#model = null;
  }
}
