import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, type RewardValue } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { dpoLoss, imitationWeights, valueLoss, weightedNll } from '../../src/rl/index.ts';

const ok = (...values: number[]): RewardValue[] => values.map((value) => ({ status: 'ok', value }));
const number = (tensor: tf.Tensor) => tensor.dataSync()[0] as number;
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

describe('imitationWeights', () => {
  it('weighted: the reward itself', () => {
    expect(imitationWeights(ok(0, 0.3, 2), { kind: 'weighted' })).toEqual([0, 0.3, 2]);
  });

  it('filtered: 1 above the threshold, not at it', () => {
    expect(imitationWeights(ok(0.98, 0.99, 1), { kind: 'filtered', above: 0.99 })).toEqual([0, 0, 1]);
  });

  it('has no weight for a missing reward', () => {
    const rewards: RewardValue[] = [{ status: 'missing', reason: 'x' }, ...ok(Number.NaN)];
    expect(imitationWeights(rewards, { kind: 'weighted' })).toEqual([null, null]);
  });

  it('refuses a negative weight', () => {
    expect(() => imitationWeights(ok(-1), { kind: 'weighted' })).toThrow(ConfigError);
  });
});

describe.each(['cpu', 'onnx'] as const)('on %s', (backend) => {
  beforeAll(async () => {
    await startEngine({ backend, threads: 2 });
  });
  afterAll(stopEngine);

  it('weightedNll: weights tokens and divides by the given denominator', () => {
    const { value, grad } = tf.valueAndGrad((x: tf.Tensor) =>
      weightedNll(x as tf.Tensor1D, tf.tensor1d([2, 0, 1]), 4),
    )(tf.tensor1d([-1, -50, -3]));
    expect(number(value)).toBeCloseTo(5 / 4, 6);
    expect([...grad.dataSync()].map((v) => v + 0)).toEqual([-0.5, 0, -0.25]);
  });

  describe('dpoLoss', () => {
    const evaluate = (labelSmoothing: number, chosen = [-10, -12]) => {
      let metrics: Record<string, number> = {};
      const { value, grad } = tf.valueAndGrad((x: tf.Tensor) => {
        const result = dpoLoss(
          {
            chosen: x as tf.Tensor1D,
            rejected: tf.tensor1d([-11, -9]),
            referenceChosen: tf.tensor1d([-12, -12]),
            referenceRejected: tf.tensor1d([-11, -12]),
            pairs: 2,
          },
          { beta: 0.5, labelSmoothing },
        );
        metrics = Object.fromEntries(
          Object.entries(result.metrics).map(([name, tensor]) => [name, number(tensor)]),
        );
        return result.loss;
      })(tf.tensor1d(chosen));
      return { loss: number(value), gradient: [...grad.dataSync()], metrics };
    };

    it('is -log sigmoid of beta times the difference of the log-ratios', () => {
      // Log-ratios: 2 - 0 and 0 - 3; margins 1 and -1.5.
      const { loss, gradient, metrics } = evaluate(0);
      expect(loss).toBeCloseTo(-(Math.log(sigmoid(1)) + Math.log(sigmoid(-1.5))) / 2, 5);
      expect(gradient[0]).toBeCloseTo((-0.5 * sigmoid(-1)) / 2, 5);
      expect(gradient[1]).toBeCloseTo((-0.5 * sigmoid(1.5)) / 2, 5);
      expect(metrics.accuracy).toBeCloseTo(0.5, 6);
      expect(metrics.margin).toBeCloseTo(-0.25, 6);
      expect(metrics.chosenReward).toBeCloseTo(0.5, 6);
      expect(metrics.rejectedReward).toBeCloseTo(0.75, 6);
    });

    it('smooths labels', () => {
      const expected = [1, -1.5].map(
        (margin) => -0.9 * Math.log(sigmoid(margin)) - 0.1 * Math.log(sigmoid(-margin)),
      );
      expect(evaluate(0.1).loss).toBeCloseTo((expected[0]! + expected[1]!) / 2, 5);
    });

    it('stays finite for margins beyond exp', () => {
      // Margin of the second pair: 0.5 * (-988 - 3).
      const { loss, gradient } = evaluate(0, [-10, -1000]);
      expect(loss).toBeCloseTo((495.5 - Math.log(sigmoid(1))) / 2, 2);
      expect(gradient[1]).toBeCloseTo(-0.25, 6);
    });
  });

  describe('valueLoss', () => {
    const evaluate = (values: number[], range: number | null) => {
      const { value, grad } = tf.valueAndGrad((x: tf.Tensor) =>
        valueLoss(
          {
            values: x as tf.Tensor1D,
            oldValues: tf.tensor1d([0, 0, 0]),
            returns: tf.tensor1d([1, -1, 1]),
            weights: tf.tensor1d([1, 1, 0]),
            denominator: 2,
          },
          range,
        ),
      )(tf.tensor1d(values));
      return { loss: number(value), gradient: [...grad.dataSync()].map((v) => v + 0) };
    };

    it('clips values that ran ahead towards the target, above and below', () => {
      // 0.5 and -0.5 are clipped to 0.2 and -0.2: errors 0.64, without gradient.
      const { loss, gradient } = evaluate([0.5, -0.5, 9], 0.2);
      expect(loss).toBeCloseTo((0.5 * 2 * 0.64) / 2, 6);
      expect(gradient).toEqual([0, 0, 0]);
    });

    it('does not clip values that ran away from the target', () => {
      // -0.5 against 1: error 2.25, larger than that of the clipped -0.2; slope -1.5 / 2.
      const { loss, gradient } = evaluate([-0.5, 0.5, 9], 0.2);
      expect(loss).toBeCloseTo((0.5 * 2 * 2.25) / 2, 6);
      expect(gradient[0]).toBeCloseTo(-0.75, 6);
      expect(gradient[1]).toBeCloseTo(0.75, 6);
    });

    it('is the plain squared error without range', () => {
      const { loss, gradient } = evaluate([0.5, -0.5, 9], null);
      expect(loss).toBeCloseTo((0.5 * 2 * 0.25) / 2, 6);
      expect(gradient[0]).toBeCloseTo(-0.25, 6);
    });
  });
});
