import type { Interval, Metric, PrecisionRecall, Proportion } from '../../metrics/index.ts';
import type { DescriptionSummary, RankAgreement } from './measure.ts';

export interface NamedSummary {
  name: string;
  summary: DescriptionSummary;
}

const show = (metric: Metric): string => (metric.status === 'ok' ? metric.value.toFixed(3) : '-');

const bounds = (interval: Interval | null): string =>
  interval?.status === 'ok' ? ` [${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]` : '';

const showProportion = ({ rate, interval, count, of }: Proportion): string =>
  rate.status === 'ok' ? `${show(rate)}${bounds(interval)} (${count}/${of})` : '- (0/0)';

const showF1 = ({ f1, f1Interval }: PrecisionRecall): string => `${show(f1)}${bounds(f1Interval)}`;

const showRank = ({ n, srcc, interval }: RankAgreement): string =>
  srcc.status === 'ok' ? `${show(srcc)}${bounds(interval)} (n ${n})` : `- (n ${n})`;

const showBias = (metric: Metric): string =>
  metric.status === 'ok' ? `${metric.value >= 0 ? '+' : ''}${metric.value.toFixed(3)} steps` : '-';

/** What each row says, in the order of the table. */
const ROWS: readonly [string, (summary: DescriptionSummary) => string][] = [
  ['descriptions (without text)', (s) => `${s.n} (${s.withoutText})`],
  ['truth known (distorted)', (s) => `${s.withTruth} (${s.distorted})`],
  ['names a distortion', (s) => showProportion(s.namesSome)],
  ['distortions, precision', (s) => showProportion(s.naming.precision)],
  ['distortions, recall', (s) => showProportion(s.naming.recall)],
  ['distortions, F1', (s) => showF1(s.naming)],
  ['distortions, macro F1', (s) => show(s.macroF1)],
  ['severity stated', (s) => showProportion(s.severity.stated)],
  ['severity exact', (s) => showProportion(s.severity.exact)],
  ['severity within one', (s) => showProportion(s.severity.withinOne)],
  ['severity bias', (s) => showBias(s.severity.bias)],
  ['with exact severity, precision', (s) => showProportion(s.severity.detection.precision)],
  ['with exact severity, recall', (s) => showProportion(s.severity.detection.recall)],
  ['with exact severity, F1', (s) => showF1(s.severity.detection)],
  ['hallucinated on pristine', (s) => showProportion(s.hallucinated)],
  ['distortion denied', (s) => showProportion(s.denied)],
  ['contradicts itself', (s) => showProportion(s.contradictions.withItself)],
  ['level contradicts score', (s) => showProportion(s.contradictions.anyStep)],
  ['... by two levels', (s) => showProportion(s.contradictions.twoSteps)],
  ['no level stated', (s) => String(s.contradictions.withoutLevel)],
  ['SRCC level, score', (s) => showRank(s.consistency.levelAndScore)],
  ['SRCC severity, score', (s) => showRank(s.consistency.severityAndScore)],
  ['SRCC level, MOS', (s) => showRank(s.consistency.levelAndMos)],
  ['SRCC severity, MOS', (s) => showRank(s.consistency.severityAndMos)],
];

/** Rows of cells as lines, each column as wide as its widest cell. */
export function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** F1, and the share of exact severities, for each type, one column per set of descriptions. */
function typeRows(sets: readonly NamedSummary[]): string[][] {
  const types = [...new Set(sets.flatMap(({ summary }) => summary.byType.map(({ type }) => type)))].sort();
  return types.map((type) => [
    `  ${type}`,
    ...sets.map(({ summary }) => {
      const row = summary.byType.find((one) => one.type === type);
      if (row === undefined) return '-';
      const exact = show(row.severity.exact.rate);
      return `${showF1(row.naming)}, severity ${exact} (${row.present})`;
    }),
  ]);
}

/** More columns than this would be wider than a terminal with their intervals. */
const MOST_WITH_INTERVALS = 3;

const withoutInterval = (cell: string): string => cell.replace(/ \[[^\]]*\]/, '');

/** The judge-free protocol, one column per set of descriptions; with many columns, the intervals are left out. */
export function descriptionTable(sets: readonly NamedSummary[]): string {
  const rows = [
    ['', ...sets.map(({ name }) => name)],
    ...ROWS.map(([label, cell]) => [label, ...sets.map(({ summary }) => cell(summary))]),
  ];
  const types = typeRows(sets);
  if (types.length > 0) {
    rows.push(['F1 by type, severity exact (present)', ...sets.map(() => '')], ...types);
  }
  const narrow = sets.length > MOST_WITH_INTERVALS;
  return alignedLines(narrow ? rows.map((row) => row.map(withoutInterval)) : rows).join('\n');
}
