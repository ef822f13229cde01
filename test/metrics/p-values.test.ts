import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { logGamma } from '../../src/metrics/incomplete-beta.ts';
import { fUpperTail, normalTwoSided, studentTwoSided } from '../../src/metrics/p-values.ts';

// Recorded by scripts/reference/record-scipy.py.
const scipy = JSON.parse(readFileSync(new URL('fixtures/scipy.json', import.meta.url), 'utf8')) as {
  normalTwoSided: [number, number][];
  studentTwoSided: [number, number, number][];
  fUpperTail: [number, number, number][];
};

/** Relative: a tail of 1e-196 that came out as 0 would pass any absolute bound. */
const expectRatio = (value: number, expected: number, within: number): void =>
  expect(Math.abs(value / expected - 1)).toBeLessThan(within);

describe('tail probabilities, as scipy', () => {
  it.each(scipy.normalTwoSided)('normal, |Z| >= %f', (z, p) => expectRatio(normalTwoSided(z), p, 1e-13));
  it.each(scipy.studentTwoSided)('Student, |T| >= %f with %i degrees of freedom', (t, df, p) =>
    expectRatio(studentTwoSided(t, df), p, 1e-8),
  );
  it.each(scipy.fUpperTail)('F >= %f with %i and as many degrees of freedom', (f, df, p) =>
    expectRatio(fUpperTail(f, df, df), p, 1e-8),
  );
});

describe('closed forms', () => {
  it('one degree of freedom is Cauchy: P(|T| >= 1) = 1 / 2', () =>
    expect(studentTwoSided(1, 1)).toBeCloseTo(0.5, 14));
  it('two degrees of freedom: P(|T| >= t) = 1 - t / sqrt(2 + t^2)', () =>
    expect(studentTwoSided(-3, 2)).toBeCloseTo(1 - 3 / Math.sqrt(11), 14));
  it('F with 2 and 2 degrees of freedom: P(F >= f) = 1 / (1 + f)', () =>
    expect(fUpperTail(4, 2, 2)).toBeCloseTo(0.2, 14));
  it('unequal degrees of freedom, 2 and 4: P(F >= f) = (1 + f / 2)^-2', () =>
    expect(fUpperTail(3, 2, 4)).toBeCloseTo(0.16, 14));
  it('F >= 0 is certain', () => expect(fUpperTail(0, 3, 3)).toBe(1));
});

it.each([
  [0.5, Math.log(Math.PI) / 2],
  [1, 0],
  [2, 0],
  [5, Math.log(24)],
  [11, Math.log(3628800)],
])('log gamma(%f)', (x, expected) => expect(logGamma(x)).toBeCloseTo(expected, 13));
