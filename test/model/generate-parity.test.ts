/** Generation against the transformers library (scripts/reference/record-qwen-parity.py) and the training pass. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { startEngine, stopEngine } from '../../src/engine/index.ts';
import { generate, neverSampledTokenIds } from '../../src/model/index.ts';
import { trainingLogProbabilities } from './generate-reference.ts';
import {
  loadParityModel,
  PARITY_MODELS,
  type ParityModel,
  parityPrompts,
  unpacked,
} from './parity-reference.ts';

/** As recorded. */
const NEW_TOKENS = 24;

const largestDifference = (actual: readonly number[][], expected: readonly ArrayLike<number>[]): number =>
  Math.max(...actual.flatMap((row, i) => row.map((value, t) => Math.abs(value - expected[i]![t]!))));

describe.each(PARITY_MODELS)('%s', (name) => {
  let loaded: ParityModel;
  beforeAll(async () => {
    await startEngine({ backend: 'onnx', threads: 2 });
    loaded = await loadParityModel(name);
  });
  afterAll(() => stopEngine());

  test.each(['captured', 'stepwise'] as const)(
    'greedy tokens and their log-probabilities are those of transformers, %s',
    async (decoding) => {
      const completions = await generate(loaded.model, parityPrompts(loaded), {
        maxNewTokens: NEW_TOKENS,
        temperature: 0,
        rng: new Rng(1),
        decoding,
      });
      const made = completions.map(([completion]) => completion!);
      const expected = loaded.reference.sequences.map(({ greedy }) => greedy);
      expect(made.map(({ tokenIds }) => tokenIds)).toEqual(expected.map(({ tokenIds }) => tokenIds));
      const difference = largestDifference(
        made.map(({ logProbabilities }) => [...logProbabilities]),
        expected.map(({ logProbabilities }) => unpacked(logProbabilities)),
      );
      expect(difference).toBeLessThan(1e-4);
    },
  );

  test.each([1, 0.7])(
    'sampled log-probabilities are those of training, temperature %f',
    async (temperature) => {
      const prompts = parityPrompts(loaded);
      const completions = await generate(loaded.model, prompts, {
        samplesPerPrompt: 3,
        maxNewTokens: NEW_TOKENS,
        temperature,
        rng: new Rng(2),
      });
      const expected = await trainingLogProbabilities(loaded.model, prompts, completions, {
        temperature,
        bannedTokenIds: neverSampledTokenIds(loaded.model.config, loaded.model.tokenizer),
      });
      const made = completions.flat().map(({ logProbabilities }) => [...logProbabilities]);
      expect(made.map((row) => row.length)).toEqual(expected.map((row) => row.length));
      expect(largestDifference(made, expected)).toBeLessThan(1e-4);
    },
  );
});
