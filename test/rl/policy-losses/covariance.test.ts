import { describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { preparePolicyLoss, selectClipCov, selectKlCov, tokenCovariances } from '../../../src/rl/index.ts';

const batch = {
  // Means: A 0.5, log p -2. Covariances: (1.5)(1) = 1.5, (-1.5)(-1) = 1.5, (0.5)(0), (-0.5)(0).
  advantages: [2, -1, 1, 0],
  logProbabilities: [-1, -3, -2, -2],
  oldLogProbabilities: [-1, -3, -2, -2],
};
const bounds = { share: 1, covarianceLow: 1, covarianceHigh: 5, epsilonLow: 0.2, epsilonHigh: 0.2 };

describe('tokenCovariances', () => {
  it('multiplies the distances from the means', () => {
    expect([...tokenCovariances(batch.advantages, batch.logProbabilities)]).toEqual([1.5, 1.5, 0, -0]);
  });
});

describe('selectClipCov', () => {
  it('takes the tokens between the bounds', () => {
    expect([...selectClipCov(batch, bounds, new Rng('a'))]).toEqual([1, 1, 0, 0]);
  });

  it('takes none above the upper bound', () => {
    const selected = selectClipCov(batch, { ...bounds, covarianceHigh: 1.5 }, new Rng('a'));
    expect([...selected]).toEqual([0, 0, 0, 0]);
  });

  it('leaves tokens out that are clipped anyway', () => {
    // Ratio e on a positive, 1 / e on a negative advantage.
    const moved = { ...batch, oldLogProbabilities: [-2, -2, -2, -2] };
    expect([...selectClipCov(moved, bounds, new Rng('a'))]).toEqual([0, 0, 0, 0]);
  });

  it('takes at least one, at random but the same for a seed', () => {
    const chosen = Array.from({ length: 40 }, (_, seed) =>
      [...selectClipCov(batch, { ...bounds, share: 1e-4 }, new Rng(seed))].join(''),
    );
    expect(new Set(chosen)).toEqual(new Set(['1000', '0100']));
    expect([...selectClipCov(batch, { ...bounds, share: 1e-4 }, new Rng(3))].join('')).toBe(chosen[3]);
  });
});

describe('selectKlCov', () => {
  it('takes the largest, of equal ones the first, and at least one', () => {
    expect([...selectKlCov(batch, { share: 0.5 })]).toEqual([1, 1, 0, 0]);
    expect([...selectKlCov(batch, { share: 1e-4 })]).toEqual([1, 0, 0, 0]);
  });
});

describe('preparePolicyLoss', () => {
  it('reports the share of selected tokens', () => {
    const { selected, metrics } = preparePolicyLoss(
      { kind: 'kl-cov', share: 0.5, coefficient: 1 },
      batch,
      new Rng('a'),
    );
    expect([...selected!]).toEqual([1, 1, 0, 0]);
    expect(metrics.selectedShare).toBe(0.5);
  });
});
