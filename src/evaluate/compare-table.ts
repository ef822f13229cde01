import { listNames } from '../core/index.ts';
import type { Interval, Metric } from '../metrics/index.ts';
import type { Comparison, Difference } from './compare.ts';
import type { ResultsComparison, SplitChange } from './compare-results.ts';
import { pairRemarks, probabilityCell } from './correlate-pairs-table.ts';
import { alignTable, intervalCell, metricCell, type TextTable, UNDEFINED } from './tables/index.ts';

/** A comparison as plain text: for each split figures, behaviour, distortions and images. */
export function formatComparison(result: ResultsComparison): string {
  const { baseline, candidate, intervals, splits, unmatched } = result;
  const sides = [
    [baseline, unmatched.baseline],
    [candidate, unmatched.candidate],
  ] as const;
  return [
    `before: ${baseline}`,
    `after:  ${candidate}`,
    ...sides.flatMap(([name, parts]) =>
      parts.length === 0 ? [] : [`note: only ${name} has ${listNames(parts)}, not compared`],
    ),
    ...splits.flatMap((split) => ['', ...splitLines(split, intervals.level)]),
    '',
    `${100 * intervals.level} % intervals: paired percentile bootstrap over images, ${intervals.resamples} resamples, seed ${intervals.seed}`,
  ].join('\n');
}

function splitLines(change: SplitChange, level: number): string[] {
  const { split, baseline, candidate, comparison, notices, tests } = change;
  const remarks = pairRemarks({ a: 'before', b: 'after', rows: [tests] });
  return [
    `${split}: ${comparison.images} images scored by both`,
    ...countLines(change),
    ...notices.map((notice) => `note: ${notice}`),
    '',
    ...alignTable(metricsTable(change, level)),
    ...remarks.map((remark) => `note: ${remark}`),
    '',
    ...alignTable(behaviourTable(change, level)),
    ...(change.byDistortion.length === 0 ? [] : ['', ...alignTable(distortionTable(change, level))]),
    ...change.byDistortion.flatMap(({ group, comparison: { srcc } }) =>
      srcc.difference.status === 'ok' ? [] : [`note: ${group} has no SRCC: ${srcc.difference.detail}`],
    ),
    ...(change.byDistortion.length > 1
      ? [`note: p are of each distortion alone, not adjusted for ${change.byDistortion.length} of them`]
      : []),
    '',
    ...imageLines(change),
    ...[baseline, candidate].map(({ path }, i) => `${i === 0 ? 'before' : 'after '}  ${path}`),
  ];
}

function countLines({ baseline, candidate, alone, comparison: { dropped } }: SplitChange): string[] {
  const sides = `${baseline.n} images before (${baseline.scored} with a score), ${candidate.n} after (${candidate.scored})`;
  const parts = [
    ...(dropped > 0 ? [`${dropped} left out because a side has no score`] : []),
    ...(alone.baseline.length > 0
      ? [`${alone.baseline.length} only before (${listNames(alone.baseline)})`]
      : []),
    ...(alone.candidate.length > 0
      ? [`${alone.candidate.length} only after (${listNames(alone.candidate)})`]
      : []),
  ];
  return [[sides, ...parts].join('; ')];
}

function metricsTable({ comparison, tests }: SplitChange, level: number): TextTable {
  const row = (name: keyof typeof BETTER, p: string): string[] => {
    const { baseline, candidate, difference, interval } = comparison[name];
    return [
      name.toUpperCase(),
      ...[metricCell(baseline), metricCell(candidate), signed(difference)],
      ...[intervalCell(interval), p, verdict(comparison[name], BETTER[name])],
    ];
  };
  const rows = [
    row('srcc', `${probabilityCell(tests.srcc.steiger)} (Steiger)`),
    row('plcc', `${probabilityCell(tests.plcc.williams)} (Williams)`),
    row('rmse', '-'),
    row('mae', '-'),
  ];
  const { residuals } = tests;
  if (residuals?.status === 'ok') {
    const spread = [residuals.baseline, residuals.candidate].map(({ variance }) =>
      Math.sqrt(variance).toFixed(4),
    );
    const clear = residuals.pValue < 1 - level;
    rows.push([
      ...['residual std after logistic4', ...spread],
      ...[`F ${residuals.statistic.toFixed(3)}`, '-', `${probabilityCell(residuals)} (F-test)`],
      clear ? (residuals.statistic < 1 ? 'better' : 'worse') : 'no clear change',
    ]);
  }
  return { header: ['', 'before', 'after', 'change', `${100 * level} %`, 'p', ''], rows };
}

/** Which way is better. */
const BETTER = { srcc: 1, plcc: 1, rmse: -1, mae: -1 } as const satisfies Partial<
  Record<keyof Comparison, 1 | -1>
>;

/** By the interval of the paired difference alone. */
export function verdict(
  { difference, interval }: Pick<Difference, 'difference' | 'interval'>,
  sign: 1 | -1,
): string {
  if (difference.status !== 'ok' || interval.status !== 'ok') return '';
  if (interval.low <= 0 && interval.high >= 0) return 'no clear change';
  return difference.value * sign > 0 ? 'better' : 'worse';
}

function signed(metric: Metric, digits = 4): string {
  if (metric.status !== 'ok') return UNDEFINED;
  return `${metric.value < 0 ? '' : '+'}${metric.value.toFixed(digits)}`;
}

const percent = (metric: Metric): string =>
  metric.status === 'ok' ? `${(100 * metric.value).toFixed(1)} %` : '-';

function points(metric: Metric, interval: Interval): string[] {
  if (metric.status !== 'ok' || interval.status !== 'ok') return ['-', '-'];
  const [low, high] = [interval.low, interval.high].map((value) => (100 * value).toFixed(1));
  return [signed({ status: 'ok', value: 100 * metric.value }, 1), `[${low}, ${high}]`];
}

function behaviourTable({ behaviour }: SplitChange, level: number): TextTable {
  return {
    header: ['the answer ...', 'images', 'before', 'after', 'points', `${100 * level} %`],
    rows: behaviour.map((one) => [
      one.behaviour,
      String(one.images),
      percent(one.baseline),
      percent(one.candidate),
      ...points(one.difference, one.interval),
    ]),
  };
}

function distortionTable({ byDistortion }: SplitChange, level: number): TextTable {
  const coverage = `${100 * level} %`;
  return {
    header: [
      'distortion',
      'n',
      'SRCC',
      'after',
      'change',
      coverage,
      'p',
      'RMSE',
      'after',
      'change',
      coverage,
    ],
    rows: byDistortion.map(({ group, comparison, tests }) => [
      ...[group, String(comparison.images)],
      ...differenceCells(comparison.srcc),
      probabilityCell(tests.srcc.steiger),
      ...differenceCells(comparison.rmse),
    ]),
  };
}

const differenceCells = ({ baseline, candidate, difference, interval }: Difference): string[] => [
  metricCell(baseline),
  metricCell(candidate),
  signed(difference),
  intervalCell(interval),
];

function imageLines({ scores }: SplitChange): string[] {
  const { images, unchanged, closer, farther, mostChanged, lost, gained } = scores;
  return [
    `scores of ${images} images: ${unchanged} unchanged, ${closer} closer to the MOS, ${farther} farther`,
    ...(lost.length === 0 ? [] : [`no score any more: ${lost.length} (${listNames(lost)})`]),
    ...(gained.length === 0 ? [] : [`a score now: ${gained.length} (${listNames(gained)})`]),
    ...(mostChanged.length === 0
      ? []
      : alignTable({
          header: ['most changed', 'MOS', 'before', 'after', 'change', 'error'],
          rows: mostChanged.map(({ id, mos, baseline, candidate, change, errorChange }) => [
            id,
            ...[mos, baseline, candidate].map((value) => value.toFixed(2)),
            ...[change, errorChange].map((value) => signed({ status: 'ok', value }, 2)),
          ]),
        })),
  ];
}
