import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  averageRanks,
  fisherInterval,
  krcc,
  type Metric,
  normalQuantile,
  plcc,
  quantile,
  srcc,
} from '../../src/metrics/index.ts';

interface Case {
  name: string;
  x: number[];
  y: number[];
  srcc: number;
  plcc: number;
  krcc: number;
  averageRanks: number[];
  pearsonInterval90: [number, number] | null;
}
// Recorded by scripts/reference/record-scipy.py.
const reference = JSON.parse(readFileSync(new URL('fixtures/scipy.json', import.meta.url), 'utf8')) as {
  cases: Case[];
  normalQuantiles: [number, number][];
  quantiles: { values: number[]; expected: [number, number][] };
};

const numberOf = (metric: Metric): number => {
  if (metric.status !== 'ok') throw new Error(metric.detail);
  return metric.value;
};

describe.each(reference.cases)('scipy, $name', (scipy) => {
  it('spearmanr', () => expect(numberOf(srcc(scipy.x, scipy.y))).toBeCloseTo(scipy.srcc, 12));
  it('pearsonr', () => expect(numberOf(plcc(scipy.x, scipy.y))).toBeCloseTo(scipy.plcc, 12));
  it('kendalltau (tau-b)', () => expect(numberOf(krcc(scipy.x, scipy.y))).toBeCloseTo(scipy.krcc, 12));
  it('rankdata', () => expect([...averageRanks(scipy.x)]).toEqual(scipy.averageRanks));
});

const withInterval = reference.cases.filter((scipy) => scipy.pearsonInterval90 !== null);
it.each(withInterval)('scipy, $name: pearsonr confidence interval, 90 %', (scipy) => {
  const interval = fisherInterval(scipy.plcc, scipy.x.length, { kind: 'pearson', level: 0.9 });
  if (interval.status !== 'ok') throw new Error(interval.detail);
  expect(interval.low).toBeCloseTo(scipy.pearsonInterval90![0], 9);
  expect(interval.high).toBeCloseTo(scipy.pearsonInterval90![1], 9);
});

describe('scipy and numpy quantiles', () => {
  it.each(reference.normalQuantiles)('norm.ppf(%f)', (probability, z) => {
    expect(normalQuantile(probability)).toBeCloseTo(z, 8);
  });
  const sorted = [...reference.quantiles.values].sort((a, b) => a - b);
  it.each(reference.quantiles.expected)('numpy.quantile at %f', (probability, value) => {
    expect(quantile(sorted, probability)).toBeCloseTo(value, 12);
  });
});
