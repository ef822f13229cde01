import { describe, expect, it } from 'vitest';
import { type Description, descriptionTable, measureDescriptions } from '../../../src/evaluate/index.ts';
import type { Metric } from '../../../src/metrics/index.ts';

const described = (id: string, text: string | undefined, over: Partial<Description> = {}): Description => ({
  id,
  text,
  score: null,
  ...over,
});

/** Six pictures whose counts are made by hand below. */
const SIX: Description[] = [
  described('right', 'the image has strong jpeg compression.', { distortions: [{ type: 'jpeg', level: 4 }] }),
  described('wrong type', 'the image has mild banding.', { distortions: [{ type: 'jpeg', level: 2 }] }),
  described('pristine', 'the image has no visible distortion.', { distortions: [] }),
  described('hallucinated', 'a scene with slight haze.', { distortions: [] }),
  described('relative', 'a scene with moderate gaussian blur.', {
    distortions: [{ type: 'defocusBlur', level: 3 }],
  }),
  described('half', 'strong jpeg compression is visible.', {
    distortions: [
      { type: 'jpeg', level: 5 },
      { type: 'underexposure', level: 1 },
    ],
  }),
];

const figure = (metric: Metric): number | string => (metric.status === 'ok' ? metric.value : metric.reason);

describe('named against present distortions', () => {
  const summary = measureDescriptions(SIX, { resamples: 0 });

  it('counts types over all pictures: 3 right, 2 wrongly named, 2 missed', () => {
    expect(summary.naming.precision).toMatchObject({ count: 3, of: 5 });
    expect(summary.naming.recall).toMatchObject({ count: 3, of: 5 });
    expect(figure(summary.naming.f1)).toBeCloseTo(0.6, 12);
  });

  it('counts a type with another severity as wrong when severities are asked for', () => {
    expect(summary.severity.detection.precision).toMatchObject({ count: 2, of: 5 });
    expect(summary.severity.detection.recall).toMatchObject({ count: 2, of: 5 });
  });

  it('compares the severities of what is rightly named', () => {
    const { stated, exact, withinOne, bias } = summary.severity;
    expect([stated, exact, withinOne].map(({ count, of }) => [count, of])).toEqual([
      [3, 3],
      [2, 3],
      [3, 3],
    ]);
    // Strong (4) for severe (5), the others exact.
    expect(figure(bias)).toBeCloseTo(-1 / 3, 12);
  });

  it('counts each type alone, an unseen one under its nearest relative', () => {
    const rows = summary.byType.map(({ type, present, naming }) => [type, present, figure(naming.f1)]);
    expect(rows).toEqual([
      ['banding', 0, 0],
      ['gaussianBlur', 1, 1],
      ['jpeg', 3, 0.8],
      ['lowContrast', 0, 0],
      ['underexposure', 1, 0],
    ]);
    // Of jpeg, gaussianBlur and underexposure: the others are in no picture.
    expect(figure(summary.macroF1)).toBeCloseTo((0.8 + 1 + 0) / 3, 12);
  });

  it('counts claims about pristine pictures, with a Wilson interval', () => {
    expect(summary.hallucinated).toMatchObject({ count: 1, of: 2 });
    // 1 of 2 at 95 %: 0.5 +- z sqrt(1 / 8 + z^2 / 16) / (1 + z^2 / 2), z = 1.959964.
    expect(summary.hallucinated.interval).toMatchObject({
      low: expect.closeTo(0.0945, 4),
      high: expect.closeTo(0.9055, 4),
    });
  });

  it('counts distorted pictures whose distortion is denied, and texts that do both', () => {
    const denied = [
      ...SIX,
      described('denied', 'no clear artifacts.', { distortions: [{ type: 'haze', level: 1 }] }),
      described('both', 'no visible distortion. severe banding.', {
        distortions: [{ type: 'banding', level: 5 }],
      }),
    ];
    const { denied: share, contradictions } = measureDescriptions(denied, { resamples: 0 });
    expect(share).toMatchObject({ count: 2, of: 6 });
    expect(contradictions.withItself).toMatchObject({ count: 1, of: 8 });
  });

  it('a picture without a text has everything missed; one without known truth counts for nothing', () => {
    const { naming, withoutText, withTruth } = measureDescriptions(
      [
        described('silent', undefined, { distortions: [{ type: 'jpeg', level: 3 }] }),
        described('unknown', 'severe banding.'),
      ],
      { resamples: 0 },
    );
    expect(naming.recall).toMatchObject({ count: 0, of: 1 });
    expect(naming.precision).toMatchObject({ of: 0, rate: { reason: 'nothing-to-count' } });
    expect([withoutText, withTruth]).toEqual([1, 1]);
  });

  it('does not blame a severity where nobody knows the true one', () => {
    const { naming, severity } = measureDescriptions(
      [described('a', 'severe banding.', { distortions: [{ type: 'banding' }] })],
      { resamples: 0 },
    );
    expect(naming.precision).toMatchObject({ count: 1, of: 1 });
    expect([severity.stated.of, severity.detection.precision.of]).toEqual([0, 0]);
  });
});

describe('a text against its own score', () => {
  const level = (id: string, word: string, over: Partial<Description>): Description =>
    described(id, `slight banding, so i judge the quality as ${word}.`, over);

  it('contradicts it by one level or by two', () => {
    const { contradictions } = measureDescriptions(
      [
        level('agrees', 'good', { score: 3.5 }),
        level('one off', 'good', { score: 3.3 }),
        level('two off', 'good', { score: 2.5 }),
        level('grade agrees', 'poor', { grade: 'poor' }),
        level('grade four off', 'excellent', { grade: 'bad' }),
        level('score outside the scale', 'good', { score: 7 }),
        level('no score', 'good', {}),
        described('no level', 'slight banding.', { score: 3 }),
      ],
      { resamples: 0 },
    );
    expect(contradictions.anyStep).toMatchObject({ count: 3, of: 5 });
    expect(contradictions.twoSteps).toMatchObject({ count: 2, of: 5 });
    expect(contradictions.withoutLevel).toBe(1);
  });

  it('is consistent by rank: the stated level and the strongest severity against score and MOS', () => {
    const rows = [
      described('a', 'severe banding. the quality is bad.', { score: 1.2, mos: 3 }),
      described('b', 'slight haze and moderate banding. the quality is fair.', { score: 3, mos: 2 }),
      described('c', 'no visible distortion. the quality is excellent.', { score: 4.6, mos: 1 }),
      described('d', 'some words.', { score: 2 }),
      described('e', 'banding.', { score: 2 }),
    ];
    const { consistency } = measureDescriptions(rows, { resamples: 0 });
    const found = Object.entries(consistency).map(([name, { n, srcc }]) => [name, n, figure(srcc)]);
    expect(found).toEqual([
      ['levelAndScore', 3, 1],
      ['severityAndScore', 3, 1],
      ['levelAndMos', 3, -1],
      ['severityAndMos', 3, -1],
    ]);
  });

  it('has no rank agreement, and says so, when all levels are one', () => {
    const { consistency } = measureDescriptions([
      level('a', 'good', { score: 3 }),
      level('b', 'good', { score: 4 }),
    ]);
    expect(consistency.levelAndScore).toMatchObject({
      n: 2,
      srcc: { reason: 'constant-scores' },
      interval: null,
    });
  });
});

it('an empty list has reasons in place of figures', () => {
  const summary = measureDescriptions([]);
  expect([figure(summary.naming.f1), figure(summary.macroF1)]).toEqual([
    'nothing-to-count',
    'nothing-to-count',
  ]);
});

it('the table shows one column per set, without intervals when there are many', () => {
  const set = (name: string) => ({ name, summary: measureDescriptions(SIX, { resamples: 0 }) });
  const line = (table: string, start: string) => table.split('\n').find((one) => one.startsWith(start));
  expect(line(descriptionTable([set('a')]), 'distortions, precision')).toBe(
    'distortions, precision                0.600 [0.231, 0.882] (3/5)',
  );
  const many = descriptionTable(['a', 'b', 'c', 'd'].map(set));
  expect(line(many, 'distortions, F1')?.split(/\s{2,}/)).toEqual([
    'distortions, F1',
    '0.600',
    '0.600',
    '0.600',
    '0.600',
  ]);
});
