import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, Rng } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { type PolicyLossInputs, type PolicyLossOptions, policyLoss } from '../../src/rl/index.ts';

interface Numbers {
  current: number[];
  old: number[];
  reference?: number[];
  entropies?: number[];
  advantages: number[];
  importance?: number[];
  weights?: number[];
  denominator?: number;
  totalTokens?: number;
}

const vector = (values: number[] | undefined) => (values === undefined ? null : tf.tensor1d(values));

const inputsOf = (numbers: Numbers, current: tf.Tensor1D): PolicyLossInputs => ({
  logProbabilities: current,
  oldLogProbabilities: tf.tensor1d(numbers.old),
  referenceLogProbabilities: vector(numbers.reference),
  entropies: vector(numbers.entropies),
  advantages: tf.tensor1d(numbers.advantages),
  importanceWeights: vector(numbers.importance),
  weights: tf.tensor1d(numbers.weights ?? numbers.current.map(() => 1)),
  denominator: numbers.denominator ?? numbers.current.length,
  totalTokens: numbers.totalTokens ?? numbers.current.length,
});

/** Loss, gradient with respect to the current log-probabilities, and metrics, as plain numbers. */
function evaluate(numbers: Numbers, options: PolicyLossOptions = {}) {
  return tf.tidy(() => {
    const metrics: Record<string, number> = {};
    const { value, grad } = tf.valueAndGrad((current: tf.Tensor) => {
      const result = policyLoss(inputsOf(numbers, current as tf.Tensor1D), options);
      for (const [name, tensor] of Object.entries(result.metrics)) metrics[name] = tensor.dataSync()[0];
      return result.loss;
    })(tf.tensor1d(numbers.current));
    return { loss: value.dataSync()[0] as number, gradient: [...grad.dataSync()], metrics };
  });
}

const log = (...values: number[]) => values.map(Math.log);

describe.each(['cpu', 'onnx'] as const)('policyLoss on %s', (backend) => {
  beforeAll(async () => {
    await startEngine({ backend, threads: 2 });
  });
  afterAll(stopEngine);

  // Ratios 1.5, 0.5, 1.1, 1.5, 0.5 under clip [0.8, 1.2]:
  // A > 0 above: clipped, 1.2. A < 0 below: clipped, 0.8. Inside. A < 0 above and A > 0 below: not clipped.
  const cases: Numbers = {
    current: log(0.3, 0.1, 0.22, 0.3, 0.1),
    old: log(0.2, 0.2, 0.2, 0.2, 0.2),
    advantages: [1, -1, 2, -1, 1],
  };

  it('clips where the gain would grow, and only there', () => {
    const { loss, gradient } = evaluate(cases);
    // -(1.2 - 0.8 + 2.2 - 1.5 + 0.5) / 5
    expect(loss).toBeCloseTo(-1.6 / 5, 6);
    [0, 0, -2.2 / 5, 1.5 / 5, -0.5 / 5].forEach((expected, i) => {
      expect(gradient[i]).toBeCloseTo(expected, 6);
    });
  });

  it('counts the clipped tokens of each side and the ratios', () => {
    const { metrics } = evaluate(cases);
    expect(metrics.clipRatioLow).toBeCloseTo(1 / 5, 6);
    expect(metrics.clipRatioHigh).toBeCloseTo(1 / 5, 6);
    expect(metrics.ratioMean).toBeCloseTo((1.5 + 0.5 + 1.1 + 1.5 + 0.5) / 5, 6);
    expect(metrics.ratioMax).toBeCloseTo(1.5, 6);
    expect(metrics.ratioMin).toBeCloseTo(0.5, 6);
  });

  it('takes different bounds below and above', () => {
    const { loss, gradient } = evaluate(cases, { epsilonLow: 0.6, epsilonHigh: 0.28 });
    // -(1.28 - 0.5 + 2.2 - 1.5 + 0.5) / 5: the second token is inside [0.4, 1.28].
    expect(loss).toBeCloseTo(-1.98 / 5, 6);
    expect(gradient[1]).toBeCloseTo(0.5 / 5, 6);
  });

  it('bounds the loss of a negative advantage by the dual clip', () => {
    // Ratio 5 with A = -1: -5 without, -3 with the bound, and no gradient. Ratio 5 with A = 1: clipped to 1.2.
    const numbers: Numbers = { current: log(0.5, 0.5), old: log(0.1, 0.1), advantages: [-1, 1] };
    expect(evaluate(numbers).loss).toBeCloseTo((5 - 1.2) / 2, 5);
    const bounded = evaluate(numbers, { dualClip: 3 });
    expect(bounded.loss).toBeCloseTo((3 - 1.2) / 2, 6);
    expect(bounded.gradient).toEqual([0, 0]);
  });

  it('at ratio 1 has the plain policy gradient, the value of minus the mean advantage, and nothing clipped', () => {
    const same = log(0.3, 0.2, 0.1);
    const { loss, gradient, metrics } = evaluate({ current: same, old: same, advantages: [1, -2, 4] });
    expect(loss).toBeCloseTo(-1, 6);
    [-1 / 3, 2 / 3, -4 / 3].forEach((expected, i) => {
      expect(gradient[i]).toBeCloseTo(expected, 6);
    });
    expect([metrics.ratioMin, metrics.ratioMax]).toEqual([1, 1]);
    expect([metrics.clipRatioLow, metrics.clipRatioHigh]).toEqual([0, 0]);
  });

  it('has zero loss and zero gradient where all advantages are 0', () => {
    const { loss, gradient } = evaluate({ ...cases, advantages: [0, 0, 0, 0, 0] });
    expect(loss).toBeCloseTo(0, 12);
    expect(gradient.map(Math.abs)).toEqual([0, 0, 0, 0, 0]);
  });

  // current 0.3, 0.1 against reference 0.2, 0.2: d = log(2/3), log 2.
  const klCase: Numbers = {
    current: log(0.3, 0.1),
    old: log(0.3, 0.1),
    reference: log(0.2, 0.2),
    advantages: [0, 0],
  };
  const d = [Math.log(2 / 3), Math.log(2)] as const;
  it.each([
    ['k1', (-d[0] - d[1]) / 2, [1, 1]],
    ['k2', (d[0] ** 2 + d[1] ** 2) / 4, [-d[0], -d[1]]],
    ['k3', (2 / 3 - d[0] - 1 + 2 - d[1] - 1) / 2, [1 - 2 / 3, 1 - 2]],
  ] as const)('adds the %s estimate of the KL', (klEstimator, kl, derivative) => {
    const { loss, gradient, metrics } = evaluate(klCase, { klEstimator, klCoefficient: 0.5 });
    expect(metrics.kl).toBeCloseTo(kl, 6);
    expect(loss).toBeCloseTo(0.5 * kl, 6);
    derivative.forEach((expected, i) => {
      expect(gradient[i]).toBeCloseTo((0.5 * expected) / 2, 6);
    });
  });

  it('measures the KL without adding it when its weight is 0', () => {
    const { loss, metrics } = evaluate(klCase);
    expect(loss).toBeCloseTo(0, 12);
    expect(metrics.kl).toBeCloseTo((2 / 3 - d[0] - 1 + 2 - d[1] - 1) / 2, 6);
  });

  it('subtracts the entropy bonus', () => {
    const same = log(0.3, 0.2);
    const { loss, metrics } = evaluate(
      { current: same, old: same, advantages: [1, 1], entropies: [0.5, 1.5] },
      { entropyCoefficient: 0.1 },
    );
    expect(metrics.entropy).toBeCloseTo(1, 6);
    expect(loss).toBeCloseTo(-1 - 0.1, 6);
  });

  it('multiplies the surrogate by the importance weights', () => {
    const same = log(0.3, 0.2);
    const { loss } = evaluate({ current: same, old: same, advantages: [1, 2], importance: [0.5, 2] });
    expect(loss).toBeCloseTo(-(0.5 + 4) / 2, 6);
  });

  it('lets padding touch neither loss, nor gradient, nor metrics', () => {
    const padded: Numbers = {
      current: [...cases.current, 0, -50],
      old: [...cases.old, -50, 0],
      advantages: [...cases.advantages, 9, -9],
      weights: [1, 1, 1, 1, 1, 0, 0],
      denominator: 5,
      totalTokens: 5,
    };
    const plain = evaluate(cases);
    const { loss, gradient, metrics } = evaluate(padded);
    expect(loss).toBeCloseTo(plain.loss, 6);
    expect(gradient.slice(0, 5)).toEqual(plain.gradient);
    expect(gradient.slice(5).map(Math.abs)).toEqual([0, 0]);
    for (const [name, value] of Object.entries(plain.metrics)) expect(metrics[name]).toBeCloseTo(value, 6);
  });

  it('stays finite for ratios beyond float32', () => {
    const { loss, gradient } = evaluate({ current: [0, -200], old: [-200, 0], advantages: [1, -1] });
    expect(loss).toBeCloseTo(-(1.2 - 0.8) / 2, 6);
    expect(gradient.map(Math.abs)).toEqual([0, 0]);
  });

  it('has the gradient of finite differences with every term on', () => {
    const rng = new Rng('policy-loss');
    const draw = (low: number, high: number) => Array.from({ length: 12 }, () => rng.uniform(low, high));
    const old = draw(-2.5, -0.5);
    const numbers: Numbers = {
      old,
      current: old.map((value, i) => value + [0.05, -0.1, 0.6, -0.7, 0.1, -0.05][i % 6]!),
      reference: draw(-2.5, -0.5),
      advantages: draw(-2, 2),
      importance: draw(0.5, 2),
      weights: draw(0.1, 1),
      denominator: 3.5,
    };
    const options: PolicyLossOptions = { epsilonHigh: 0.28, dualClip: 1.5, klCoefficient: 0.3 };
    const { gradient } = evaluate(numbers, options);
    const h = 1e-3;
    for (let i = 0; i < 12; i++) {
      const shifted = (sign: number) =>
        evaluate(
          { ...numbers, current: numbers.current.map((v, k) => (k === i ? v + sign * h : v)) },
          options,
        );
      const slope = (shifted(1).loss - shifted(-1).loss) / (2 * h);
      expect(Math.abs((gradient[i] as number) - slope)).toBeLessThan(1e-3 * Math.max(1, Math.abs(slope)));
    }
  });

  it('refuses a KL weight without a reference', () => {
    expect(() => evaluate({ ...klCase, reference: undefined as never }, { klCoefficient: 0.1 })).toThrow(
      ConfigError,
    );
  });

  it('refuses vectors of different length', () => {
    expect(() => evaluate({ ...cases, advantages: [1] })).toThrow('advantages has 1 tokens');
  });

  it('refuses a dual clip that is not above 1', () => {
    expect(() => evaluate(cases, { dualClip: 1 })).toThrow(ConfigError);
  });
});
