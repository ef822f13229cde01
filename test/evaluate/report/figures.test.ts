import { describe, expect, it } from 'vitest';
import { densityCells } from '../../../src/evaluate/report/density.ts';
import { distortionBars } from '../../../src/evaluate/report/distortion-bars.ts';
import { binShares } from '../../../src/evaluate/report/histograms.ts';
import { levelTable } from '../../../src/evaluate/report/reliability.ts';
import { residualBands } from '../../../src/evaluate/report/residuals.ts';
import { weightedMean } from '../../../src/evaluate/report/results-table.ts';
import { evenly, rolloutGroups } from '../../../src/evaluate/report/rollouts.ts';
import { THEME, type ThemeColor } from '../../../src/evaluate/report/theme.ts';
import { prediction } from '../prediction-factory.ts';
import { contrast } from './browser.ts';

describe('densityCells', () => {
  const grid = { x: { low: 1, high: 5 }, y: { low: 1, high: 5 }, size: 0.1 };
  it('counts points in cells that begin at their lower ends', () => {
    const points = [1.8, 1.85, 1.899].map((x) => ({ x, y: 2.6 }));
    expect(densityCells(points, grid)).toEqual([{ x: 1.8, x2: 1.9, y: 2.6, y2: 2.7, count: 3 }]);
  });
  it('puts the upper end into the last cell', () => {
    expect(densityCells([{ x: 5, y: 5 }], grid)).toEqual([{ x: 4.9, x2: 5, y: 4.9, y2: 5, count: 1 }]);
  });
  it('refuses a point outside', () => {
    expect(() => densityCells([{ x: 5.01, y: 3 }], grid)).toThrow('got 5.01, allowed is 1 to 5');
    expect(() => densityCells([{ x: Number.NaN, y: 3 }], grid)).toThrow(RangeError);
  });
});

describe('residualBands', () => {
  it('gives mean and one standard deviation of n - 1 in half points', () => {
    const points = [
      { x: 1, y: 1 },
      { x: 1.2, y: 2 },
      { x: 1.49, y: 3 },
      { x: 1.5, y: 7 },
    ];
    expect(residualBands(points, 1)).toEqual([
      { x: 1.25, n: 3, mean: 2, low: 1, high: 3 },
      { x: 1.75, n: 1, mean: 7, low: 7, high: 7 },
    ]);
  });
});

it('binShares adds up to 1, with the upper end in the last bin', () => {
  const shares = binShares([1, 1.2, 1.39, 5], 1, 5);
  expect(shares).toHaveLength(20);
  expect([shares[0], shares[1], shares[19]]).toEqual([0.25, 0.5, 0.25]);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1);
});

describe('levelTable', () => {
  // Levels are 0.8 wide: 1.7 is bad, 1.8 poor, 4.9 excellent.
  const rows = [
    prediction('a', 1.7, 1, { levelStated: 'bad' }),
    prediction('b', 1.8, 1, { levelStated: 'bad' }),
    prediction('c', 4.9, 1, { levelStated: 'bad' }),
    prediction('d', 4.9, null, { levelStated: 'excellent' }),
    prediction('e', 3, 3),
    prediction('f', 5.2, 5, { levelStated: 'excellent' }),
  ];
  it('counts agreement, exact and within one level, of answers that state a level about a MOS on the scale', () => {
    expect(levelTable(rows)).toMatchObject({ judged: 4, exact: 2, withinOne: 3 });
  });
  it('gives shares within a stated level', () => {
    const bad = levelTable(rows).cells.filter(({ stated }) => stated === 'bad');
    expect(bad.map(({ count }) => count)).toEqual([1, 1, 0, 0, 1]);
    expect(bad[0]!.share).toBeCloseTo(1 / 3, 12);
  });
});

describe('distortionBars', () => {
  const rows = [
    prediction('a', 1, 2, { distortionsTrue: [{ type: 'jpeg' }, { type: 'haze' }] }),
    prediction('b', 2, 4, { distortionsTrue: [{ type: 'jpeg' }] }),
    prediction('c', 3, null, { distortionsTrue: [{ type: 'jpeg' }] }),
    prediction('d', 5, 4, { distortionsTrue: [] }),
    prediction('e', 5, 1),
  ];
  it('groups by the main distortion, counts what has a score, and leaves out unknown truth', () => {
    expect(distortionBars('m', rows)).toMatchObject([
      { type: 'jpeg', n: 2, bias: 1.5, srcc: { status: 'ok', value: 1 } },
      { type: 'none', n: 1, bias: -1, srcc: { status: 'undefined-because', reason: 'too-few' } },
    ]);
  });
});

describe('weightedMean', () => {
  const summary = (value: number, scored: number) => ({
    srcc: {
      value: { status: 'ok', value },
      interval: { status: 'ok', low: 0, high: 1, level: 0.95 },
    } as const,
    plcc: {
      value: { status: 'undefined-because', reason: 'too-few', detail: '' },
      interval: { status: 'ok', low: 0, high: 1, level: 0.95 },
    } as const,
    scored,
  });
  it('weighs by pictures with a score', () => {
    expect(weightedMean([summary(0.9, 100), summary(0.5, 300)], 'srcc')).toBeCloseTo(0.6, 12);
  });
  it('has no value where a data set has none', () => {
    expect(weightedMean([summary(0.9, 100), undefined], 'srcc')).toBeUndefined();
    expect(weightedMean([summary(0.9, 100)], 'plcc')).toBeUndefined();
  });
});

describe('rollouts', () => {
  it.each([
    [[1, 2, 3], 5, [1, 2, 3]],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9], 3, [1, 5, 9]],
  ])('evenly of %j, %i', (values, count, expected) => expect(evenly(values, count)).toEqual(expected));
  it('shows one group per step, best first, missing rewards last', () => {
    const row = (step: number, image: string, value: number | null) => ({
      ...{ step, image, mos: 3, text: String(value), finishReason: 'stop' as const, terms: {} },
      total:
        value === null
          ? ({ status: 'missing', reason: 'no answer' } as const)
          : ({ status: 'ok', value } as const),
    });
    const groups = rolloutGroups([
      row(1, 'a', 0.1),
      row(1, 'a', null),
      row(1, 'a', 0.7),
      row(1, 'b', 0.9),
      row(2, 'c', -1),
    ]);
    expect(groups.map((group) => group.map(({ text }) => text))).toEqual([['0.7', '0.1', 'null'], ['-1']]);
  });
});

describe('THEME', () => {
  const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const onSurfaces: ThemeColor[] = ['ink', 'muted', 'accent', 'better', 'worse'];
  it.each(
    onSurfaces.flatMap((text) =>
      (['paper', 'panel', 'sunken'] as const).map((behind) => [text, behind] as const),
    ),
  )('%s on %s keeps 4.5 : 1 in light and dark', (text, behind) => {
    for (const scheme of [0, 1] as const)
      expect(contrast(rgb(THEME[text][scheme]), rgb(THEME[behind][scheme]))).toBeGreaterThanOrEqual(4.5);
  });
  it.each(['hit', 'miss', 'named'] as const)('text on the mark "%s" keeps 4.5 : 1', (behind) => {
    for (const scheme of [0, 1] as const)
      expect(contrast(rgb(THEME.ink[scheme]), rgb(THEME[behind][scheme]))).toBeGreaterThanOrEqual(4.5);
  });
  it.each(Array.from({ length: 8 }, (_, i) => `series-${i + 1}` as ThemeColor))(
    '%s is seen on a panel: 3 : 1',
    (name) => {
      for (const scheme of [0, 1] as const)
        expect(contrast(rgb(THEME[name][scheme]), rgb(THEME.panel[scheme]))).toBeGreaterThanOrEqual(3);
    },
  );
  it('contrast is that of WCAG', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 10);
    expect(contrast([119, 119, 119], [255, 255, 255])).toBeCloseTo(4.48, 2); // #777, the known near miss.
  });
});
