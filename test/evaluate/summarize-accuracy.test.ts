import { expect, it } from 'vitest';
import { summarize } from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';

// Levels by the bounds 1.8, 2.6, 3.4, 4.2: bad, poor, fair, excellent against bad, fair, fair, good.
const four = [
  prediction('a', 1.2, 1.5, { mosStd: 0.2 }),
  prediction('b', 2.4, 3, { mosStd: 0.2 }),
  prediction('c', 3, 2.9),
  prediction('d', 4.5, 4, { mosStd: 0.5 }),
  prediction('e', 4.6, null),
];
const { accuracy } = summarize(four, { resamples: 100 });

it('level accuracy is over the answers with a score', () =>
  expect(accuracy.levels).toMatchObject({
    exact: { count: 2, of: 4 },
    withinOne: { count: 4, of: 4 },
  }));

it('pairs ordered as their MOS, by gap', () => {
  // Scores 1.5 3 2.9 4 of MOS 1.2 2.4 3 4.5: b and c alone are in the wrong order, 0.6 apart.
  expect(accuracy.pairs.overall).toMatchObject({ pairs: 6, agreeing: 5 });
  expect(accuracy.pairs.bins[2]).toMatchObject({ from: 0.5, pairs: 1, agreeing: 0 });
});

it('outliers are counted where the deviation of the raters is known', () =>
  // Errors 0.3, 0.6, 0.5 against 0.4, 0.4, 1.
  expect(accuracy.outliers).toMatchObject({ status: 'ok', count: 1, of: 3 }));

it('by level of the MOS, images without a score counted', () =>
  expect(accuracy.byLevel.map(({ level, n, scored }) => [level, n, scored])).toEqual([
    ['bad', 1, 1],
    ['poor', 1, 1],
    ['fair', 1, 1],
    ['excellent', 2, 1],
  ]));

it('a MOS outside the scale has no level, which is said', () =>
  expect(summarize([prediction('a', 50, 3)], { resamples: 100 }).accuracy.levels).toMatchObject({
    reason: 'outside-scale',
    detail: '1 of 1 MOS are outside 1 to 5',
  }));

it('two images have no correlation: it could only be 1 or -1', () =>
  expect(summarize(four.slice(0, 2), { resamples: 100 })).toMatchObject({
    srcc: { value: { reason: 'too-few' } },
    plcc: { value: { reason: 'too-few' } },
    krcc: { value: { reason: 'too-few' } },
  }));
