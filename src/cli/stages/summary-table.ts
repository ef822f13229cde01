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

/** One split of one model as a few lines of text. */
export function summaryTable(title: string, summary: Summary): string {
  const rows: [string, string][] = [
    ['images', `${summary.n} (${summary.scored} with a score)`],
    ['SRCC', showEstimate(summary.srcc)],
    ['PLCC', showEstimate(summary.plcc)],
    ['PLCC, logistic', showEstimate(summary.plccLogistic4)],
    ['KRCC', showEstimate(summary.krcc)],
    ['RMSE', showEstimate(summary.rmse)],
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
