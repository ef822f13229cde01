import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { fitLogistic, type LogisticFit, type LogisticModel } from '../../src/metrics/index.ts';

function fitted(
  scores: number[],
  targets: number[],
  model: LogisticModel,
  direction: 1 | -1 = 1,
): LogisticFit {
  const result = fitLogistic(scores, targets, model, { direction });
  if (result.status !== 'ok') throw new Error(result.detail);
  return result;
}

function expectEach(values: number[], expected: number[], digits: number): void {
  expect(values).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(values[i]).toBeCloseTo(value, digits);
}

const grid = Array.from({ length: 60 }, (_, i) => 1 + (4 * i) / 59);
const logistic4 = (b1: number, b2: number, b3: number, b4: number) => (x: number) =>
  (b1 - b2) / (1 + Math.exp(-(x - b3) / b4)) + b2;

describe('logistic fits of curves whose parameters are known', () => {
  it('recovers four parameters', () => {
    const { parameters, plcc, rmse } = fitted(grid, grid.map(logistic4(92, 11, 2.8, 0.45)), 'logistic4');
    expectEach(parameters, [92, 11, 2.8, 0.45], 3);
    expect(plcc).toBeCloseTo(1, 9);
    expect(rmse).toBeLessThan(1e-3);
  });

  it('recovers five parameters', () => {
    const curve = (x: number) => 30 * (0.5 - 1 / (1 + Math.exp(3 * (x - 2.5)))) + 4 * x + 20;
    const { parameters, monotone } = fitted(grid, grid.map(curve), 'logistic5');
    expectEach(parameters, [30, 3, 2.5, 4, 20], 2);
    expect(monotone).toBe(true);
  });

  it('says when the five-parameter curve turns', () => {
    const curve = (x: number) => 30 * (0.5 - 1 / (1 + Math.exp(3 * (x - 2.5)))) - 4 * x + 20;
    expect(fitted(grid, grid.map(curve), 'logistic5').monotone).toBe(false);
  });

  it('the published formula at the returned parameters gives the fitted values', () => {
    const rng = new Rng('published');
    const targets = grid.map((x) => Math.exp(x) + rng.normal());
    const four = fitted(grid, targets, 'logistic4');
    const [b1, b2, b3, b4] = four.parameters as [number, number, number, number];
    const five = fitted(grid, targets, 'logistic5');
    const [c1, c2, c3, c4, c5] = five.parameters as [number, number, number, number, number];
    grid.forEach((x, i) => {
      expect(four.fitted[i]).toBeCloseTo(logistic4(b1, b2, b3, b4)(x), 4);
      expect(five.fitted[i]).toBeCloseTo(c1 * (0.5 - 1 / (1 + Math.exp(c2 * (x - c3)))) + c4 * x + c5, 4);
    });
  });

  it('does not depend on the units of scores and targets', () => {
    const rng = new Rng('units');
    const targets = grid.map((x) => logistic4(5, 1, 3, 0.7)(x) + rng.normal(0, 0.3));
    const plain = fitted(grid, targets, 'logistic4').plcc;
    const scaled = fitted(
      grid.map((x) => 1e6 * x - 3e6),
      targets.map((y) => 1e-5 * y),
      'logistic4',
    ).plcc;
    expect(scaled).toBeCloseTo(plain, 7);
  });
});

describe('direction', () => {
  const falling = grid.map(logistic4(10, 80, 3, 0.5));
  it.each(['logistic4', 'logistic5'] as const)('refuses a %s that hides inverted labels', (model) => {
    expect(fitLogistic(grid, falling, model)).toMatchObject({
      status: 'undefined-because',
      reason: 'fit-flips-sign',
      detail: expect.stringContaining('targets fall as scores rise') as unknown,
    });
  });
  it('accepts falling targets when lower is stated to be better', () => {
    expect(fitted(grid, falling, 'logistic4', -1).plcc).toBeCloseTo(1, 9);
  });
  it('refuses rising targets when lower is stated to be better', () => {
    expect(fitLogistic(grid, grid, 'logistic4', { direction: -1 })).toMatchObject({
      reason: 'fit-flips-sign',
    });
  });
});

it('is never worse than the straight line, which both curves contain', () => {
  const rng = new Rng('line');
  const targets = grid.map((x) => 2 * x + rng.normal());
  const meanX = grid.reduce((a, b) => a + b) / 60;
  const meanY = targets.reduce((a, b) => a + b) / 60;
  const slope =
    grid.reduce((sum, x, i) => sum + (x - meanX) * (targets[i]! - meanY), 0) /
    grid.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
  const line = Math.sqrt(
    grid.reduce((sum, x, i) => sum + (targets[i]! - meanY - slope * (x - meanX)) ** 2, 0) / 60,
  );
  expect(fitted(grid, targets, 'logistic4').rmse).toBeLessThan(line * 1.0001);
  expect(fitted(grid, targets, 'logistic5').rmse).toBeLessThan(line * 1.0001);
});

/** R of the best of 45 x 81 curves, each with its exact least-squares coefficients: slow, but sees every basin. */
function bestOfDenseGrid(x: number[], y: number[], model: LogisticModel): number {
  const centred = (v: number[]) => {
    const mean = v.reduce((a, b) => a + b) / v.length;
    return v.map((value) => value - mean);
  };
  const dot = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  const without = (v: number[], of: number[]) =>
    v.map((value, i) => value - (dot(v, of) / dot(of, of)) * of[i]!);
  const line = centred(x);
  const target = centred(y);
  const spread = Math.sqrt(dot(line, line) / x.length);
  const mean = x.reduce((a, b) => a + b) / x.length;
  const left = model === 'logistic5' ? without(target, line) : target;
  let most = 0;
  for (let step = 0; step < 45; step++) {
    const slope = Math.exp(-1.5 + step / 7) / spread;
    for (let place = -40; place <= 40; place++) {
      const sigmoid = centred(x.map((v) => 1 / (1 + Math.exp(-slope * (v - mean - (place / 20) * spread)))));
      const basis = model === 'logistic5' ? without(sigmoid, line) : sigmoid;
      const size = dot(basis, basis);
      if (size > 1e-12) most = Math.max(most, dot(left, basis) ** 2 / size);
    }
  }
  const explained = model === 'logistic5' ? dot(target, target) - dot(left, left) + most : most;
  return Math.sqrt(explained / dot(target, target));
}

describe('several starts find the best basin', () => {
  const cases = ['logistic4', 'logistic5'].flatMap((model) =>
    [1, 2, 3, 4, 5].map((seed) => [model as LogisticModel, seed] as const),
  );
  it.each(cases)('%s on noise about a line, seed %i', (model, seed) => {
    const rng = new Rng(seed);
    const x = Array.from({ length: 60 }, () => rng.uniform(1, 5));
    const y = x.map((v) => v + rng.normal());
    expect(fitted(x, y, model).plcc).toBeGreaterThan(bestOfDenseGrid(x, y, model) - 1e-4);
  });
  it.each(cases)('%s on four grades, seed %i', (model, seed) => {
    const rng = new Rng(`grades ${seed}`);
    const x = Array.from({ length: 60 }, () => 1 + rng.integer(4));
    const y = x.map((v) => Math.log(1 + v) + rng.normal(0, 0.5));
    expect(fitted(x, y, model).plcc).toBeGreaterThan(bestOfDenseGrid(x, y, model) - 1e-4);
  });
});
