import { describe, expect, it } from 'vitest';
import {
  type Behaviour,
  compareResults,
  formatComparison,
  type Prediction,
  type Result,
  type RunProvenance,
} from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';

const result = (predictions: Prediction[], over: Partial<Result> = {}): Result => ({
  ...{ path: 'a/predictions.jsonl', part: '', predictions, run: null, notices: [] },
  ...over,
});
const side = (name: string, ...results: Result[]) => ({ name, results });
const quick = { resamples: 200 };
const compareTwo = (a: Prediction[], b: Prediction[], over = {}) =>
  compareResults(side('a', result(a)), side('b', result(b)), { ...quick, ...over }).splits[0]!;
const ok = (value: number) => ({ status: 'ok', value: expect.closeTo(value, 12) as number });

const mosOf = (i: number): number => 1 + ((i * 7) % 20) / 5;
const ids = Array.from({ length: 20 }, (_, i) => `i${i}`);
const right = ids.map((id, i) => prediction(id, mosOf(i), mosOf(i)));
const inverted = ids.map((id, i) => prediction(id, mosOf(i), 6 - mosOf(i)));

describe('compareResults', () => {
  it('measures both on the images that both scored, and counts the others', () => {
    const a = [...right.slice(0, 18), prediction('i18', mosOf(18), null)];
    const { comparison, baseline, candidate, alone } = compareTwo(a, right);
    expect(comparison).toMatchObject({ images: 18, dropped: 1, unmatched: 1 });
    expect([baseline.n, baseline.scored, candidate.n]).toEqual([19, 18, 20]);
    expect(alone).toEqual({ baseline: [], candidate: ['i19'] });
  });

  it('is candidate minus baseline, whatever seeds the runs had', () => {
    const seeded = inverted.map((row) => ({ ...row, seed: 3 }));
    expect(compareTwo(seeded, right).comparison.srcc.difference).toEqual(ok(2));
  });

  it('has no test for a run against itself, with the reason', () => {
    const { comparison, tests, scores } = compareTwo(right, right);
    expect(comparison.srcc.difference).toEqual(ok(0));
    expect(tests.srcc.steiger.status).toBe('undefined-because');
    expect(scores).toMatchObject({ unchanged: 20, mostChanged: [] });
  });

  it('splits by the main true distortion', () => {
    const withTruth = (rows: Prediction[]) =>
      rows.map((row, i) => ({ ...row, distortionsTrue: i % 2 === 0 ? [{ type: 'jpeg' }] : [] }));
    const groups = compareTwo(withTruth(inverted), withTruth(right)).byDistortion;
    expect(groups.map(({ group, comparison }) => [group, comparison.images])).toEqual([
      ['jpeg', 10],
      ['none', 10],
    ]);
    expect(groups[0]!.comparison.srcc).toMatchObject({ baseline: ok(-1), candidate: ok(1) });
  });

  it('survives a distortion whose images no side scored', () => {
    const rows = [...right.slice(0, 19), prediction('i19', 2, null)].map((row, i) => ({
      ...row,
      distortionsTrue: i === 19 ? [{ type: 'rain' }] : [{ type: 'jpeg' }],
    }));
    const rain = compareTwo(rows, rows).byDistortion.find(({ group }) => group === 'rain');
    expect(rain!.comparison).toMatchObject({ images: 0, dropped: 1 });
    expect(rain!.comparison.srcc.difference).toMatchObject({ reason: 'too-few' });
  });

  it('lists the images whose score changed most, with the change of the error', () => {
    const moved = right.map((row, i) =>
      i === 4 ? { ...row, score: row.score! - 1 } : i === 9 ? { ...row, score: row.score! + 0.5 } : row,
    );
    const { scores } = compareTwo(right, moved, { most: 1 });
    expect(scores).toMatchObject({ images: 20, unchanged: 18, closer: 0, farther: 2 });
    expect(scores.mostChanged).toEqual([
      expect.objectContaining({ id: 'i4', change: -1, errorChange: expect.closeTo(1, 12) as number }),
    ]);
  });

  it('names the images that lost or gained a score', () => {
    const lost = right.map((row, i) => (i === 2 ? prediction(row.id, row.mos, null) : row));
    expect(compareTwo(right, lost).scores.lost).toEqual(['i2']);
    expect(compareTwo(lost, right).scores.gained).toEqual(['i2']);
  });

  it('pairs several parts by name, and says which have no partner', () => {
    const parts = (...names: string[]) => names.map((part) => result(right, { part }));
    const { splits, unmatched } = compareResults(
      side('a', ...parts('cross', 'test')),
      side('b', ...parts('test', 'train')),
      quick,
    );
    expect(splits.map(({ split }) => split)).toEqual(['test']);
    expect(unmatched).toEqual({ baseline: ['cross'], candidate: ['train'] });
  });

  it('refuses runs without a common part, without a common image, and with other MOS', () => {
    const two = (...names: string[]) => names.map((part) => result(right, { part }));
    expect(() => compareResults(side('a', ...two('x', 'y')), side('b', ...two('z')))).toThrow(
      'a and b have no part in common: x, y against z',
    );
    expect(() => compareTwo(right, [prediction('other', 1, 1)])).toThrow('no image in common');
    expect(() => compareTwo(right, [prediction('i0', 3, 1)])).toThrow('image i0 has different MOS');
  });
});

describe('a notice', () => {
  it('is given for MOS that are not on the scale of the scores', () => {
    const percent = right.map((row) => ({ ...row, mos: 20 * row.mos }));
    expect(compareTwo(percent, percent).notices).toEqual([
      'MOS run from 20 to 96, scores from 1 to 5: not one scale, RMSE and MAE say nothing',
    ]);
    expect(compareTwo(right, right).notices).toEqual([]);
  });
});

describe('behaviour', () => {
  const changeOf = (a: Prediction[], b: Prediction[], behaviour: Behaviour) =>
    compareTwo(a, b).behaviour.find((one) => one.behaviour === behaviour)!;

  it('is a share of all images of both, paired', () => {
    const half = right.map((row, i) => ({ ...row, wellFormed: i % 2 === 0 }));
    expect(changeOf(half, right, 'keeps the output contract')).toMatchObject({
      ...{ images: 20, baseline: ok(0.5), candidate: ok(1), difference: ok(0.5) },
    });
  });

  it('asks for the agreement of level and score where both sides state one', () => {
    // 4.4 is excellent; the candidate says so, the baseline says good. The other image states no level before.
    const of = (levels: (Prediction['levelStated'] | null)[]) =>
      levels.map((levelStated, i) => ({
        ...prediction(`i${i}`, 4 + i / 10, 4.4),
        ...(levelStated == null ? {} : { levelStated }),
      }));
    const change = changeOf(
      of(['good', null]),
      of(['excellent', 'good']),
      'stated level agrees with the score',
    );
    expect(change).toMatchObject({ images: 1, baseline: ok(0), candidate: ok(1) });
  });

  it('asks for distortions only where they are known', () => {
    expect(changeOf(right, right, 'names a true distortion first')).toMatchObject({
      ...{ images: 0, difference: { reason: 'nothing-to-count' } },
    });
    const pristine = right.map((row) => ({ ...row, distortionsTrue: [] }));
    const claiming = pristine.map((row, i) =>
      i < 5 ? { ...row, distortionsNamed: [{ type: 'jpeg' }] } : row,
    );
    expect(changeOf(pristine, claiming, 'claims a distortion of a pristine picture').difference).toEqual(
      ok(0.25),
    );
  });
});

describe('formatComparison', () => {
  const text = (a: Prediction[], b: Prediction[], runs: [RunProvenance, RunProvenance] | null = null) =>
    formatComparison(
      compareResults(
        side('before-run', result(a, { run: runs?.[0] ?? null })),
        side('after-run', result(b, { run: runs?.[1] ?? null })),
        quick,
      ),
    );

  it('says better only where the interval leaves out 0', () => {
    const noisy = right.map((row, i) => ({ ...row, score: row.score! + ((i * 3) % 5) - 2 }));
    expect(text(noisy, right)).toMatch(/^SRCC +0\.\d+ +1\.0000 +\+0\.\d+ .*better$/m);
    expect(text(right, noisy)).toMatch(/^RMSE .* worse$/m);
    expect(text(right, right)).toMatch(/^SRCC .*no clear change$/m);
  });

  it('says why a distortion has no SRCC', () => {
    const pristine = right.map((row) => ({ ...row, distortionsTrue: [] }));
    expect(
      text(
        pristine,
        pristine.map((row) => ({ ...row, score: 4.4 })),
      ),
    ).toContain('note: none has no SRCC: all 20 scores equal 4.4\n');
  });

  it('never prints NaN', () => {
    const constant = right.map((row) => ({ ...row, score: 3 }));
    expect(text(constant, right)).not.toMatch(/NaN|undefined%/);
    expect(text(constant, right)).toMatch(/^SRCC +undefined/m);
  });

  it('says what else differs between the runs', () => {
    const run = { promptHash: 'p1', sampling: 'greedy', checkpointHash: 'c' } as RunProvenance;
    expect(text(right, right, [run, { ...run, promptHash: 'p2' }])).toContain(
      'note: the two sides differ in more than the model: prompt (p1, p2)',
    );
    expect(text(right, right, [run, run])).toContain('note: both sides are the same checkpoint, SHA-256 c');
  });
});
