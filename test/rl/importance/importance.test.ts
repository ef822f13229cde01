import { describe, expect, it } from 'vitest';
import {
  importanceConfigSchema,
  importanceCorrection,
  offPolicySequenceMask,
} from '../../../src/rl/index.ts';

const log = (...values: number[]) => values.map(Math.log);
const correctionOf = (correction: unknown) => importanceConfigSchema.parse({ correction }).correction;

describe('importanceCorrection', () => {
  // Ratios 4 and 0.5 in one sequence (product 2), 0.1 in another.
  const [trainer, sampler, lengths] = [log(0.4, 0.1, 0.02), log(0.1, 0.2, 0.2), [2, 1]];
  const correct = (correction: unknown) =>
    importanceCorrection(trainer, sampler, lengths, correctionOf(correction));

  it.each([
    [{ kind: 'truncate', level: 'token', cap: 2 }, [2, 0.5, 0.1], 1 / 3],
    [{ kind: 'truncate', level: 'sequence', cap: 1.5 }, [1.5, 1.5, 0.1], 2 / 3],
    [{ kind: 'mask', level: 'token', low: 0.2, high: 3 }, [0, 0.5, 0], 2 / 3],
    [{ kind: 'mask', level: 'sequence', low: 0.2, high: 3 }, [2, 2, 0], 1 / 3],
  ])('%j', (correction, expected, affected) => {
    const { weights, affectedShare } = correct(correction);
    expected.forEach((weight, i) => {
      expect(weights[i]).toBeCloseTo(weight, 9);
    });
    expect(affectedShare).toBeCloseTo(affected, 12);
  });

  it('reports the mean ratio before it cuts', () => {
    expect(correct({ kind: 'truncate', level: 'token', cap: 2 }).meanRatio).toBeCloseTo(4.6 / 3, 9);
  });

  it('is 1 where there is no correction, and where sampler and trainer agree', () => {
    expect([...correct({ kind: 'none' }).weights]).toEqual([1, 1, 1]);
    const same = importanceCorrection(trainer, trainer, lengths, correctionOf({ kind: 'mask' }));
    expect([...same.weights]).toEqual([1, 1, 1]);
  });

  it('stays finite for any difference', () => {
    const { weights } = importanceCorrection(
      [0],
      [-1000],
      [1],
      correctionOf({ kind: 'truncate', cap: 1e30 }),
    );
    expect(weights[0]).toBeCloseTo(Math.exp(20), 3);
  });

  it('refuses lengths that do not add up', () => {
    expect(() => importanceCorrection(trainer, sampler, [2], correctionOf({ kind: 'none' }))).toThrow(
      RangeError,
    );
  });
});

describe('offPolicySequenceMask', () => {
  it('drops negative sequences beyond the threshold alone', () => {
    // Mean log-ratio to the sampler 0.3 (far) for the first two, 0.1 (near) for the last two.
    const kept = offPolicySequenceMask(
      {
        sampler: [-1, -1, -1, -1, -1],
        current: [-1.2, -1.4, -1.3, -1.1, -1.1],
        lengths: [2, 1, 1, 1],
        advantages: [-1, 1, -1, 0],
      },
      0.2,
    );
    expect([...kept]).toEqual([0, 1, 1, 1]);
  });

  it('takes a token without sampler probability as no evidence', () => {
    const kept = offPolicySequenceMask(
      { sampler: [Number.NaN, -1], current: [-9, -1.1], lengths: [2], advantages: [-1] },
      0.2,
    );
    expect([...kept]).toEqual([1]);
  });
});
