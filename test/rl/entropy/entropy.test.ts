import { describe, expect, it } from 'vitest';
import { ConfigError, Rng } from '../../../src/core/index.ts';
import { AdaptiveEntropyCoefficient, entropyClipTerms, topEntropyMask } from '../../../src/rl/index.ts';

describe('topEntropyMask', () => {
  it('keeps the tokens at or above the quantile', () => {
    // Quantile 0.6 of 1 ... 6: position 3, value 4.
    expect([...topEntropyMask([3, 6, 1, 5, 2, 4], 0.4)]).toEqual([0, 1, 0, 1, 0, 1]);
  });

  it('interpolates the quantile', () => {
    // Quantile 0.5 of 1, 2, 3, 4: 2.5.
    expect([...topEntropyMask([4, 1, 3, 2], 0.5)]).toEqual([1, 0, 1, 0]);
  });

  it('keeps all ties, one token, everything at share 1, and nothing of nothing', () => {
    expect([...topEntropyMask([1, 1, 1], 0.2)]).toEqual([1, 1, 1]);
    expect([...topEntropyMask([0], 0.2)]).toEqual([1]);
    expect([...topEntropyMask([5, 0], 1)]).toEqual([1, 1]);
    expect([...topEntropyMask([], 0.2)]).toEqual([]);
  });

  it('refuses a share of 0', () => {
    expect(() => topEntropyMask([1], 0)).toThrow(ConfigError);
  });
});

describe('AdaptiveEntropyCoefficient', () => {
  const options = { target: 0.2, start: 0.01, step: 0.005, minimum: 0, maximum: 0.02 };

  it('rises at or below the target up to its maximum, and acts', () => {
    const controller = new AdaptiveEntropyCoefficient(options);
    const seen = [0.2, 0.1, 0.1].map((entropy) => {
      controller.observe(entropy);
      return controller.value;
    });
    [0.015, 0.02, 0.02].forEach((expected, i) => {
      expect(seen[i]).toBeCloseTo(expected, 12);
    });
  });

  it('falls above the target down to its minimum, and does not act there', () => {
    const controller = new AdaptiveEntropyCoefficient(options);
    for (const entropy of [0.5, 0.5, 0.5]) {
      controller.observe(entropy);
      expect(controller.value).toBe(0);
    }
    expect(controller.state().coefficient).toBe(0);
    controller.observe(0.1);
    expect(controller.value).toBeCloseTo(0.005, 12);
  });

  it('continues from a stored state', () => {
    const [first, second] = [
      new AdaptiveEntropyCoefficient(options),
      new AdaptiveEntropyCoefficient(options),
    ];
    first.observe(0.5);
    second.restore(first.state());
    expect(second.value).toBe(first.value);
    expect(second.state()).toEqual(first.state());
  });

  it('refuses a start outside its range', () => {
    expect(() => new AdaptiveEntropyCoefficient({ ...options, start: 0.03 })).toThrow(ConfigError);
  });
});

describe('entropyClipTerms', () => {
  const bounds = { low: 0.8, high: 1.2 };

  it('sorts the covariance by sign and likelihood', () => {
    // Mean log p -2: distances +1, -1, +1, -1; nothing clipped.
    const terms = entropyClipTerms(
      {
        logProbabilities: [-1, -3, -1, -3],
        oldLogProbabilities: [-1, -3, -1, -3],
        advantages: [1, 2, -3, -4],
      },
      bounds,
    );
    expect(terms).toEqual({
      positiveLikely: 0.25,
      positiveUnlikely: -0.5,
      negativeLikely: -0.75,
      negativeUnlikely: 1,
      covariance: 0,
      unclippedCovariance: 0,
    });
  });

  it('is the covariance of log p and A X, computed the long way', () => {
    const rng = new Rng('entropy-clip');
    const draw = (low: number, high: number) => Array.from({ length: 50 }, () => rng.uniform(low, high));
    const oldLogProbabilities = draw(-3, -0.1);
    const logProbabilities = oldLogProbabilities.map((value) => value + rng.normal(0, 0.3));
    const advantages = draw(-1, 1);
    const kept = advantages.map((advantage, t) => {
      const ratio = Math.exp(logProbabilities[t]! - oldLogProbabilities[t]!);
      return (advantage > 0 && ratio > 1.2) || (advantage < 0 && ratio < 0.8) ? 0 : advantage;
    });
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const covariance = (a: number[], b: number[]) =>
      mean(a.map((value, i) => (value - mean(a)) * (b[i]! - mean(b))));
    const terms = entropyClipTerms({ logProbabilities, oldLogProbabilities, advantages }, bounds)!;
    expect(terms.covariance).toBeCloseTo(covariance(logProbabilities, kept), 12);
    expect(terms.unclippedCovariance).toBeCloseTo(covariance(logProbabilities, advantages), 12);
    expect(
      terms.positiveLikely + terms.positiveUnlikely + terms.negativeLikely + terms.negativeUnlikely,
    ).toBeCloseTo(terms.covariance, 12);
  });

  it('predicts the entropy change of a small step of a tabular softmax', () => {
    // Exact policy gradient step on the logits: dH = -eta Cov(log p, A) under p, for p-weighted advantages.
    const logits = [0.5, -0.2, 0.1, -1];
    const advantages = [1, -0.5, 0.3, -1];
    const softmax = (z: number[]) => {
      const e = z.map(Math.exp);
      const sum = e.reduce((s, v) => s + v, 0);
      return e.map((v) => v / sum);
    };
    const entropy = (p: number[]) => -p.reduce((sum, v) => sum + v * Math.log(v), 0);
    const p = softmax(logits);
    const eta = 1e-5;
    // Natural gradient step: each logit moves by eta A.
    const moved = softmax(logits.map((z, i) => z + eta * advantages[i]!));
    // Tokens in the shares of p, so that the mean over tokens is the mean under p.
    const count = 100_000;
    const counts = p.map((v) => Math.round(v * count));
    const spread = (values: number[]) =>
      counts.flatMap((n, i) => new Array<number>(n).fill(values[i] as number));
    const logP = spread(p.map(Math.log));
    const terms = entropyClipTerms(
      { logProbabilities: logP, oldLogProbabilities: logP, advantages: spread(advantages) },
      bounds,
    )!;
    expect((entropy(moved) - entropy(p)) / eta).toBeCloseTo(-terms.covariance, 3);
  });

  it('has nothing to say of no tokens', () => {
    expect(
      entropyClipTerms({ logProbabilities: [], oldLogProbabilities: [], advantages: [] }, bounds),
    ).toBeNull();
  });
});
