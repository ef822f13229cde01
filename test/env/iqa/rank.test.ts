import { describe, expect, it } from 'vitest';
import type { RewardValue } from '../../../src/core/index.ts';
import { type RankedImage, thurstoneRewards } from '../../../src/env/index.ts';

const image = (mos: number, scores: (number | null)[], dataset = 'd'): RankedImage => ({
  dataset,
  mos,
  scores,
});
const valuesOf = (rewards: RewardValue[][]): (number | string)[][] =>
  rewards.map((group) => group.map((reward) => (reward.status === 'ok' ? reward.value : 'missing')));

describe('thurstoneRewards', () => {
  it('two images, computed by hand', () => {
    // Means 3.5 and 2.5, both variances 0.5, so z = (q - other mean) / sqrt(1.000001).
    // q = 4: Phi(1.5) = .93319, sqrt(.93319 + 1e-6) + sqrt(1e-6) = .96702. q = 3: Phi(0.5) = .69146 -> .83254.
    const [a, b] = valuesOf(thurstoneRewards([image(4, [4, 3]), image(2, [2, 3])]));
    expect(a?.[0]).toBeCloseTo(0.9670195140849709, 10);
    expect(a?.[1]).toBeCloseTo(0.8325427669445161, 10);
    expect(b?.[0]).toBeCloseTo(0.9670195140849709, 10);
    expect(b?.[1]).toBeCloseTo(0.8325427669445161, 10);
  });

  it('a wrong order earns less than the right one', () => {
    const right = valuesOf(thurstoneRewards([image(4, [4, 4.5]), image(2, [2, 2.5])]))[0]?.[0] as number;
    const wrong = valuesOf(thurstoneRewards([image(2, [4, 4.5]), image(4, [2, 2.5])]))[0]?.[0] as number;
    expect(right).toBeGreaterThan(0.99);
    expect(wrong).toBeLessThan(0.1);
  });

  it('equal MOS and equal scores: p = p* = 1/2, twice sqrt(.250001)', () => {
    const rewards = valuesOf(thurstoneRewards([image(3, [3, 3]), image(3, [3, 3])]));
    expect(rewards[0]?.[0]).toBeCloseTo(2 * Math.sqrt(0.250001), 12);
  });

  it('averages over the other images of the same data set only', () => {
    const pair = [image(4, [4, 3]), image(2, [2, 3])];
    const alone = valuesOf(thurstoneRewards(pair));
    const withStranger = valuesOf(thurstoneRewards([...pair, image(1, [5, 5], 'other')]));
    expect(withStranger.slice(0, 2)).toEqual(alone);
    expect(withStranger[2]).toEqual(['missing', 'missing']);
  });

  it('three images: the mean of the two comparisons', () => {
    const first = image(4, [4, 3]);
    const second = image(2, [2, 3]);
    const third = image(1, [1, 2]);
    const [withSecond] = valuesOf(thurstoneRewards([first, second]));
    const [withThird] = valuesOf(thurstoneRewards([first, third]));
    const [withBoth] = valuesOf(thurstoneRewards([first, second, third]));
    expect(withBoth?.[0]).toBeCloseTo(((withSecond?.[0] as number) + (withThird?.[0] as number)) / 2, 12);
  });

  it('a score that could not be read earns 0 and changes nothing else', () => {
    const rewards = valuesOf(thurstoneRewards([image(4, [4, null, 3]), image(2, [2, 3])]));
    expect(rewards[0]?.[1]).toBe(0);
    expect(rewards[0]?.[0]).toBeCloseTo(0.9670195140849709, 10);
  });

  it('an image with one score has no variance: missing, and nobody is compared with it', () => {
    expect(valuesOf(thurstoneRewards([image(4, [4, null]), image(2, [2, 3])]))).toEqual([
      ['missing', 0],
      ['missing', 'missing'],
    ]);
  });

  it('a batch of one image, and of none', () => {
    expect(valuesOf(thurstoneRewards([image(4, [4, 3])]))).toEqual([['missing', 'missing']]);
    expect(thurstoneRewards([])).toEqual([]);
  });
});
