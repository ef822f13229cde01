import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, Rng } from '../../src/core/index.ts';
import { GradientAccumulator, startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  type Aggregation,
  batchTotals,
  globalDenominator,
  policyLoss,
  tokenWeights,
} from '../../src/rl/index.ts';

const AGGREGATIONS: Aggregation[] = ['token-mean', 'sequence-mean', 'constant'];
const MAX_LENGTH = 9;

/** The aggregate of token losses by the papers' formulas, sequence by sequence. */
function reference(aggregation: Aggregation, losses: number[][]): number {
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  if (aggregation === 'token-mean') return sum(losses.flat()) / losses.flat().length;
  if (aggregation === 'sequence-mean') return sum(losses.map((l) => sum(l) / l.length)) / losses.length;
  return sum(losses.map(sum)) / (losses.length * MAX_LENGTH);
}

describe.each(AGGREGATIONS)('%s', (aggregation) => {
  it('is the weighted sum over the global denominator', () => {
    const losses = [[1, 2, 3], [10], [4, 6]];
    const lengths = losses.map((l) => l.length);
    const weights = tokenWeights(aggregation, lengths);
    const denominator = globalDenominator(aggregation, batchTotals(lengths), MAX_LENGTH);
    const loss = losses.flat().reduce((total, value, i) => total + value * weights[i]!, 0) / denominator;
    expect(loss).toBeCloseTo(reference(aggregation, losses), 6);
  });

  describe('on tensors', () => {
    beforeAll(async () => {
      await startEngine({ backend: 'cpu' });
    });
    afterAll(stopEngine);

    const lengths = [3, 1, 7, 2, 9, 4, 5, 1];
    const features = 3;
    const rng = new Rng('micro-batches');
    const tokens = lengths.reduce((sum, length) => sum + length, 0);
    const draw = (count: number, low: number, high: number) =>
      Float32Array.from({ length: count }, () => rng.uniform(low, high));
    const inputs = draw(tokens * features, -1, 1);
    const old = draw(tokens, -2, -1);
    const referenceModel = draw(tokens, -2, -1);
    const advantages = draw(tokens, -2, 2);
    const totals = batchTotals(lengths);

    /** Summed loss and gradient of a small policy over micro-batches of the given number of sequences. */
    function run(sequencesPerMicroBatch: number, padTo: number) {
      const parameter = tf.variable(tf.tensor2d([0.3, -0.2, 0.1], [features, 1]));
      const accumulator = new GradientAccumulator();
      let loss = 0;
      let kl = 0;
      for (let first = 0, at = 0; first < lengths.length; first += sequencesPerMicroBatch) {
        const own = lengths.slice(first, first + sequencesPerMicroBatch);
        const count = own.reduce((sum, length) => sum + length, 0);
        const length = Math.max(count, padTo);
        const part = (values: Float32Array, width = 1) => {
          const padded = new Float32Array(length * width);
          padded.set(values.subarray(at * width, (at + count) * width));
          return padded;
        };
        tf.tidy(() => {
          let klTensor: tf.Scalar | undefined;
          const { value, grads } = tf.variableGrads(() => {
            const result = policyLoss(
              {
                logProbabilities: tf
                  .matMul(tf.tensor2d(part(inputs, features), [length, features]), parameter as tf.Tensor2D)
                  .reshape([length])
                  .sub(1.5) as tf.Tensor1D,
                oldLogProbabilities: tf.tensor1d(part(old)),
                referenceLogProbabilities: tf.tensor1d(part(referenceModel)),
                advantages: tf.tensor1d(part(advantages)),
                weights: tf.tensor1d(tokenWeights(aggregation, own, length)),
                denominator: globalDenominator(aggregation, totals, MAX_LENGTH),
                totalTokens: totals.tokens,
              },
              { klCoefficient: 0.2 },
            );
            klTensor = tf.keep(result.metrics.kl!);
            return result.loss;
          }, [parameter]);
          loss += value.dataSync()[0]!;
          kl += klTensor!.dataSync()[0]!;
          klTensor!.dispose();
          accumulator.add(new Map([['w', grads[parameter.name]!]]));
        });
        at += count;
      }
      const gradient = accumulator.take().get('w')!;
      const result = { loss, kl, gradient: [...gradient.dataSync()] };
      gradient.dispose();
      parameter.dispose();
      return result;
    }

    it('gives the same loss, gradient and KL for 1 x 8, 4 x 2 and 8 x 1, padded or not', () => {
      const whole = run(8, 0);
      for (const other of [run(1, 0), run(2, 0), run(1, 16), run(8, 40)]) {
        expect(Math.abs(other.loss - whole.loss)).toBeLessThan(1e-6);
        expect(Math.abs(other.kl - whole.kl)).toBeLessThan(1e-6);
        other.gradient.forEach((value, i) => {
          expect(Math.abs(value - whole.gradient[i]!)).toBeLessThan(1e-6);
        });
      }
      expect(Math.hypot(...whole.gradient)).toBeGreaterThan(1e-2);
    });
  });
});

describe('edges', () => {
  it('counts a sequence without loss-bearing tokens in no denominator', () => {
    const totals = batchTotals([2, 0, 3]);
    expect(totals).toEqual({ sequences: 2, tokens: 5 });
    expect([...tokenWeights('sequence-mean', [2, 0, 3])]).toEqual([
      0.5,
      0.5,
      ...Array(3).fill(Math.fround(1 / 3)),
    ]);
  });

  it('refuses a batch without loss-bearing tokens', () => {
    expect(() => globalDenominator('token-mean', batchTotals([0, 0]))).toThrow(RangeError);
  });

  it('refuses "constant" without a length', () => {
    expect(() => globalDenominator('constant', batchTotals([1]))).toThrow(ConfigError);
  });

  it('refuses to pad to less than the tokens', () => {
    expect(() => tokenWeights('token-mean', [3, 2], 4)).toThrow(RangeError);
  });
});
