import type { Estimate, Share, Summary } from '../../evaluate/index.ts';
import type { Metric } from '../../metrics/index.ts';

/** A metric for people: three digits, or why there is none. */
export const showMetric = (metric: Metric): string =>
  metric.status === 'ok' ? metric.value.toFixed(3) : `none (${metric.reason})`;

export const showShare = ({ rate }: Share): string =>
  rate.status === 'ok' ? `${(100 * rate.value).toFixed(1)} %` : `none (${rate.reason})`;

function showEstimate({ value, interval }: Estimate): string {
  if (interval.status !== 'ok') return showMetric(value);
  return `${showMetric(value)} [${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]`;
}

const showLevels = (levels: Summary['accuracy']['levels']): string =>
  levels.status === 'ok'
    ? `${showShare(levels.exact)}, within one level ${showShare(levels.withinOne)}`
    : `none (${levels.reason})`;

/** All pairs, and those whose MOS differ by a level or more. */
function showPairs({ overall, bins }: Summary['accuracy']['pairs']): string {
  const wide = bins.find(({ from }) => from === 1);
  return `${showMetric(overall.accuracy)}${wide === undefined ? '' : `, at MOS gaps from 1 to 2 ${showMetric(wide.accuracy)}`}`;
}

const showOutliers = (outliers: Summary['accuracy']['outliers']): string =>
  outliers.status === 'ok'
    ? `${showShare(outliers)} beyond 2 standard deviations of the raters (${outliers.of} images)`
    : `none (${outliers.reason})`;

/** One split of one model as a few lines of text. */
export function summaryTable(title: string, summary: Summary): string {
  const rows: [string, string][] = [
    ['images', `${summary.n} (${summary.scored} with a score)`],
    ['SRCC', showEstimate(summary.srcc)],
    ['PLCC', showEstimate(summary.plcc)],
    ['PLCC, logistic', showEstimate(summary.plccLogistic4)],
    ['KRCC', showEstimate(summary.krcc)],
    ['RMSE', showEstimate(summary.rmse)],
    ['level of score is right', showLevels(summary.accuracy.levels)],
    ['pairs ordered right', showPairs(summary.accuracy.pairs)],
    ['outliers', showOutliers(summary.accuracy.outliers)],
    ['format', showShare(summary.format)],
    [
      'level fits score',
      `${showShare(summary.consistency.agreeing)}, score std ${showMetric(summary.consistency.scoreStd)}`,
    ],
    ['distortion, first named', showShare(summary.naming.firstNamed)],
    ['distortions, F1', showMetric(summary.naming.f1)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [title, ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)].join('\n');
}
