import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/core/index.ts';
import { changingScalars, startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import {
  AdaptiveKlCoefficient,
  klOfToken,
  klPenalisedRewards,
  policyLoss,
  referenceConfigSchema,
  synchronisesAfter,
} from '../../../src/rl/index.ts';

describe('klOfToken', () => {
  it('gives the three estimates of one token', () => {
    // p = 0.5, reference 0.25: d = -log 2.
    const [p, reference] = [Math.log(0.5), Math.log(0.25)];
    expect(klOfToken('k1', p, reference)).toBeCloseTo(Math.LN2, 12);
    expect(klOfToken('k2', p, reference)).toBeCloseTo(Math.LN2 ** 2 / 2, 12);
    expect(klOfToken('k3', p, reference)).toBeCloseTo(0.5 + Math.LN2 - 1, 12);
  });

  it.each(['k1', 'k3'] as const)('%s has the KL as its mean over the policy', (estimator) => {
    const [policy, reference] = [
      [0.5, 0.3, 0.2],
      [0.2, 0.2, 0.6],
    ];
    const exact = policy.reduce((sum, p, i) => sum + p * Math.log(p / reference[i]!), 0);
    const mean = policy.reduce(
      (sum, p, i) => sum + p * klOfToken(estimator, Math.log(p), Math.log(reference[i]!)),
      0,
    );
    expect(mean).toBeCloseTo(exact, 12);
  });
});

describe('klPenalisedRewards', () => {
  const input = {
    rewards: [0, 0, 1],
    actions: [1, 0, 1],
    logProbabilities: [-1, -5, -2],
    reference: [-1.5, 0, -1],
  };

  it('takes the penalty from action tokens alone', () => {
    const { rewards, meanKl } = klPenalisedRewards(input, { estimator: 'k1', coefficient: 0.1 });
    expect([...rewards]).toEqual([-0.05, 0, 1.1]);
    // k1: 0.5 and -1.
    expect(meanKl).toBeCloseTo(-0.25, 12);
  });

  it('has mean KL 0 without action tokens', () => {
    const { meanKl } = klPenalisedRewards(
      { ...input, actions: [0, 0, 0] },
      { estimator: 'k3', coefficient: 1 },
    );
    expect(meanKl).toBe(0);
  });

  it('refuses vectors of different length', () => {
    expect(() =>
      klPenalisedRewards({ ...input, reference: [0] }, { estimator: 'k1', coefficient: 1 }),
    ).toThrow('reference has 1 tokens');
  });
});

describe('AdaptiveKlCoefficient', () => {
  const start = { start: 0.1, target: 0.05, horizon: 100 };

  it('moves by the relative error times samples over horizon', () => {
    const controller = new AdaptiveKlCoefficient(start);
    // Error 0.1 / 0.05 - 1 = 1, clipped to 0.2; 50 of 100 samples: 1 + 0.1.
    controller.observe(0.1, 50);
    expect(controller.value).toBeCloseTo(0.11, 12);
    // Error -1, clipped to -0.2.
    controller.observe(0, 50);
    expect(controller.value).toBeCloseTo(0.11 * 0.9, 12);
    // Within the clip: 0.055 / 0.05 - 1 = 0.1.
    controller.observe(0.055, 100);
    expect(controller.value).toBeCloseTo(0.11 * 0.9 * 1.1, 12);
  });

  it('continues from a stored state', () => {
    const [first, second] = [new AdaptiveKlCoefficient(start), new AdaptiveKlCoefficient(start)];
    first.observe(0.2, 8);
    second.restore(first.state());
    first.observe(0.01, 8);
    second.observe(0.01, 8);
    expect(second.value).toBe(first.value);
  });

  it('refuses a KL that is not finite and a target of 0', () => {
    expect(() => new AdaptiveKlCoefficient(start).observe(Number.NaN, 1)).toThrow(RangeError);
    expect(() => new AdaptiveKlCoefficient({ ...start, target: 0 })).toThrow(ConfigError);
  });
});

describe('synchronisesAfter', () => {
  it('is every so many steps for a reference that follows, never for the others', () => {
    const follows = referenceConfigSchema.parse({ kind: 'synchronised', everySteps: 3 });
    const steps = [0, 1, 2, 3, 4, 5, 6];
    expect(steps.filter((step) => synchronisesAfter(follows, step))).toEqual([3, 6]);
    for (const kind of ['frozen-start', 'adapter-off']) {
      const fixed = referenceConfigSchema.parse({ kind });
      expect(steps.some((step) => synchronisesAfter(fixed, step))).toBe(false);
    }
  });
});

describe.each(['cpu', 'onnx'] as const)('KL in the loss on %s', (backend) => {
  beforeAll(async () => {
    await startEngine({ backend, threads: 2 });
  });
  afterAll(stopEngine);

  /** Loss and gradient at p = 0.3, old 0.2, reference 0.15, without advantage. */
  const evaluate = (
    klGradient: 'plain' | 'importance' | 'k2',
    klCoefficient: () => number | tf.Scalar = () => 1,
  ) =>
    tf.tidy(() => {
      const { value, grad } = tf.valueAndGrad((x: tf.Tensor) => {
        return policyLoss(
          {
            logProbabilities: x as tf.Tensor1D,
            oldLogProbabilities: tf.tensor1d([Math.log(0.2)]),
            referenceLogProbabilities: tf.tensor1d([Math.log(0.15)]),
            advantages: tf.tensor1d([0]),
            weights: tf.tensor1d([1]),
            denominator: 1,
            totalTokens: 1,
          },
          { klCoefficient: klCoefficient(), klGradient },
        ).loss;
      })(tf.tensor1d([Math.log(0.3)]));
      return { value: value.dataSync()[0] as number, slope: grad.dataSync()[0] as number };
    });
  const k3 = 0.5 + Math.LN2 - 1;

  it('plain: differentiates the estimate, 1 - p_reference / p', () => {
    const { value, slope } = evaluate('plain');
    expect(value).toBeCloseTo(k3, 6);
    expect(slope).toBeCloseTo(0.5, 6);
  });

  it('k2: the value of k3 with the slope of k2, log p - log p_reference', () => {
    const { value, slope } = evaluate('k2');
    expect(value).toBeCloseTo(k3, 6);
    expect(slope).toBeCloseTo(Math.LN2, 6);
  });

  it('importance: times the ratio, which has a gradient too', () => {
    const { value, slope } = evaluate('importance');
    expect(value).toBeCloseTo(1.5 * k3, 6);
    expect(slope).toBeCloseTo(1.5 * k3 + 1.5 * 0.5, 6);
  });

  it('takes a coefficient that is data', () => {
    const { value, slope } = evaluate('plain', () => changingScalars({ beta: 0.25 }).beta);
    expect(value).toBeCloseTo(0.25 * k3, 6);
    expect(slope).toBeCloseTo(0.125, 6);
  });
});
