import { describe, expect, it } from 'vitest';
import { Rng, worstScore } from '../../src/core/index.ts';
import { type Prediction, predictionSchema, summarize } from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';

const quick = { resamples: 200 };

describe('correlations and errors', () => {
  // Ranks of scores 1 3 2 4 against 1 2 3 4: sum d^2 = 2, SRCC = 1 - 12 / 60 = 0.8; one of six pairs discordant.
  const four = [
    prediction('a', 1, 1.5),
    prediction('b', 2, 3.5),
    prediction('c', 3, 3),
    prediction('d', 4, 5),
  ];

  it('SRCC, KRCC, RMSE and MAE by hand', () => {
    const summary = summarize(four, quick);
    expect(summary.srcc.value).toEqual({ status: 'ok', value: expect.closeTo(0.8, 12) as number });
    expect(summary.krcc.value).toEqual({ status: 'ok', value: expect.closeTo(2 / 3, 12) as number });
    // Errors .5, 1.5, 0, 1.
    expect(summary.rmse.value).toEqual({ status: 'ok', value: Math.sqrt(3.5 / 4) });
    expect(summary.mae.value).toEqual({ status: 'ok', value: 0.75 });
  });

  it('refuses a four-parameter curve through four points, and says so in place of its interval', () => {
    const { plccLogistic4 } = summarize(four, quick);
    expect(plccLogistic4.value).toMatchObject({ reason: 'too-few' });
    expect(plccLogistic4.interval).toMatchObject({ reason: 'too-few' });
  });

  it('has no correlation for a constant answer, but an RMSE', () => {
    const summary = summarize([prediction('a', 2, 3), prediction('b', 4, 3)], quick);
    expect(summary.srcc.value).toMatchObject({ reason: 'constant-scores' });
    expect(summary.rmse.value).toEqual({ status: 'ok', value: 1 });
    expect(summary.consistency.scoreStd).toEqual({ status: 'ok', value: 0 });
  });

  it('says nothing about format and naming of scores without a text; an empty answer has failed', () => {
    const truth = [{ type: 'jpeg', level: 2 }];
    const silent = prediction('a', 2, 2.5, { text: '', wellFormed: false, distortionsTrue: truth });
    const empty = prediction('b', 4, null, { text: '', wellFormed: false, distortionsTrue: truth });
    const { format, naming } = summarize([silent], quick);
    expect(format.rate).toMatchObject({ reason: 'nothing-to-count' });
    expect(naming.firstNamed.rate).toMatchObject({ reason: 'nothing-to-count' });
    expect(summarize([silent, empty], quick).format).toMatchObject({ count: 0, of: 1 });
    expect(summarize([silent, empty], quick).naming.firstNamed).toMatchObject({ count: 0, of: 1 });
  });

  it('has no value at all for no predictions', () => {
    const summary = summarize([], quick);
    expect(summary.srcc.value).toMatchObject({ reason: 'too-few' });
    expect(summary.format.rate).toMatchObject({ reason: 'nothing-to-count' });
    expect(summary.failures.srccWorst).toMatchObject({ reason: 'too-few' });
  });

  it('intervals hold the value and repeat for a seed', () => {
    const rng = new Rng('summary');
    const many = Array.from({ length: 200 }, (_, i) => {
      const mos = rng.uniform(1, 5);
      return prediction(`i${i}`, mos, Math.min(5, Math.max(1, mos + rng.normal(0, 0.7))));
    });
    const summary = summarize(many, { ...quick, seed: 4 });
    for (const name of ['srcc', 'plcc', 'plccLogistic4', 'krcc', 'rmse', 'mae'] as const) {
      const { value, interval } = summary[name];
      if (value.status !== 'ok' || interval.status !== 'ok') throw new Error(`${name} is undefined`);
      expect(interval.low).toBeLessThan(value.value);
      expect(interval.high).toBeGreaterThan(value.value);
    }
    expect(summarize(many, { ...quick, seed: 4 }).srcc).toEqual(summary.srcc);
  });
});

describe('missing scores', () => {
  const rows = [
    prediction('a', 1, 1),
    prediction('b', 2, 2),
    prediction('c', 4, 4),
    prediction('d', 5, null, { status: 'missing-answer', finishReason: 'length' }),
  ];
  const { failures, format, truncated, n, scored } = summarize(rows, quick);

  it('are counted, by status', () => {
    expect({ n, scored }).toEqual({ n: 4, scored: 3 });
    expect(failures.missing).toEqual({ count: 1, of: 4, rate: { status: 'ok', value: 0.25 } });
    expect(failures.byStatus).toEqual({ ok: 3, 'missing-answer': 1 });
    expect(format.rate).toEqual({ status: 'ok', value: 0.75 });
    expect(truncated.count).toBe(1);
  });
  it('dropped: SRCC of the rest is 1', () =>
    expect(failures.srccDropped).toEqual({ status: 'ok', value: 1 }));
  it('worst: the best image gets 1 and ties with the worst', () => {
    // Ranks of 1 2 4 1 are 1.5 3 4 1.5: cov 0.5, variances 4.5 and 5, r = 0.5 / sqrt(22.5).
    expect(failures.srccWorst).toEqual({
      status: 'ok',
      value: expect.closeTo(0.5 / Math.sqrt(22.5), 12) as number,
    });
  });
  it('worst: undefined where fewer than half have a score, for it would rank the stand-ins', () => {
    const mostlyMissing = [
      prediction('a', 1, 1),
      ...Array.from({ length: 2 }, (_, i) => prediction(`m${i}`, 2 + i, null)),
    ];
    expect(summarize(mostlyMissing, quick).failures.srccWorst).toEqual({
      status: 'undefined-because',
      reason: 'too-few',
      detail: '1 of 3 answers have a score, at least half needed',
    });
    const none = mostlyMissing.slice(1);
    expect(summarize(none, quick).failures.srccWorst).toMatchObject({ status: 'undefined-because' });
  });
  it('worst means the far end of the scale', () =>
    expect([1, 2.9, 3.1, 5].map(worstScore)).toEqual([5, 5, 1, 1]));
});

describe('consistency of stated level and score', () => {
  it('counts agreement over rows with both, and the spread of scores', () => {
    const { consistency } = summarize(
      [
        prediction('a', 2, 1.79, { levelStated: 'bad' }),
        prediction('b', 2, 1.8, { levelStated: 'bad' }), // 1.8 is poor.
        prediction('c', 2, 5, { levelStated: 'excellent' }),
        prediction('d', 2, 3), // States no level.
        prediction('e', 2, 7, { levelStated: 'excellent' }), // Outside the scale: no level can agree.
        prediction('f', 2, null, { levelStated: 'good' }), // No score to agree with.
      ],
      quick,
    );
    expect(consistency.agreeing).toEqual({ count: 2, of: 4, rate: { status: 'ok', value: 0.5 } });
    expect(consistency.withoutLevel).toBe(1);
  });
  it('score spread is the sample standard deviation', () => {
    const { consistency } = summarize([prediction('a', 2, 2), prediction('b', 2, 4)], quick);
    expect(consistency.scoreStd).toEqual({ status: 'ok', value: Math.SQRT2 });
  });
});

describe('distortion naming', () => {
  const named = (...list: [string, number?][]): Prediction['distortionsNamed'] =>
    list.map(([type, level]) => (level === undefined ? { type } : { type, level }));
  const rows = [
    prediction('a', 2, 2, { distortionsTrue: named(['jpeg', 3]), distortionsNamed: named(['jpeg', 4]) }),
    prediction('b', 3, 2, {
      distortionsTrue: named(['jpeg', 2], ['haze', 1]),
      distortionsNamed: named(['haze', 1], ['noise', 2]),
    }),
    prediction('c', 4, 3, { distortionsTrue: named(['haze', 2]), distortionsNamed: named(['jpeg', 2]) }),
    prediction('d', 5, 5, { distortionsTrue: [] }),
    prediction('e', 5, 4, { distortionsTrue: [], distortionsNamed: named(['jpeg']) }),
    prediction('f', 5, 4, { distortionsNamed: named(['jpeg']) }), // Truth unknown: not judged.
  ];
  const { naming, byDistortion } = summarize(rows, quick);

  it('first named', () => expect(naming.firstNamed).toMatchObject({ count: 2, of: 3 }));
  it('an unseen type is named right by its nearest trained relative, and only by that', () => {
    const unseen = [
      prediction('a', 2, 2, {
        distortionsTrue: named(['defocusBlur', 3]),
        distortionsNamed: named(['gaussianBlur', 3]),
      }),
      prediction('b', 2, 2, {
        distortionsTrue: named(['defocusBlur', 3]),
        distortionsNamed: named(['motionBlur', 3]),
      }),
    ];
    expect(summarize(unseen, quick).naming.firstNamed).toMatchObject({ count: 1, of: 2 });
  });
  it('severity: 4 for 3 is within one, 1 for 1 exact', () => {
    expect(naming.severityExact).toMatchObject({ count: 1, of: 2 });
    expect(naming.severityWithinOne).toMatchObject({ count: 2, of: 2 });
  });
  it('micro precision 2/5, recall 2/4, F1 4/9', () => {
    expect(naming.precision).toMatchObject({ count: 2, of: 5 });
    expect(naming.recall).toMatchObject({ count: 2, of: 4 });
    expect(naming.f1).toEqual({ status: 'ok', value: 4 / 9 });
  });
  it('false alarms on pristine pictures', () =>
    expect(naming.falseAlarms).toMatchObject({ count: 1, of: 2 }));
  it('breaks down by the main true distortion', () => {
    expect(byDistortion.map(({ type, n }) => [type, n])).toEqual([
      ['haze', 1],
      ['jpeg', 2],
      ['none', 2],
    ]);
    const jpeg = byDistortion[1]!;
    expect(jpeg.bias).toEqual({ status: 'ok', value: -0.5 });
    expect(jpeg.firstNamed).toMatchObject({ count: 2, of: 2 });
    expect(byDistortion[0]!.srcc).toMatchObject({ reason: 'too-few' });
  });
  it('has no F1 where nothing is named or present', () => {
    expect(summarize([prediction('a', 5, 5, { distortionsTrue: [] })], quick).naming.f1).toMatchObject({
      reason: 'nothing-to-count',
    });
  });
});

it('refuses an image that occurs twice', () => {
  expect(() => summarize([prediction('a', 1, 1), prediction('a', 1, 2)])).toThrow(
    '1 image id(s) occur more than once',
  );
});

describe('predictionSchema', () => {
  it('takes what the factory makes', () => {
    const row = prediction('a', 1, null);
    expect(predictionSchema.parse(row)).toEqual(row);
  });
  it.each([
    ['a NaN score', { score: Number.NaN }],
    ['an unknown level', { levelStated: 'mediocre' }],
    ['an unknown field', { colour: 'red' }],
    ['a severity of 6', { distortionsNamed: [{ type: 'jpeg', level: 6 }] }],
  ])('refuses %s', (_, over) => {
    expect(predictionSchema.safeParse({ ...prediction('a', 1, 1), ...over }).success).toBe(false);
  });
});
