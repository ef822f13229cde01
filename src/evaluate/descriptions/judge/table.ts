import type { Interval, Metric, Proportion } from '../../../metrics/index.ts';
import { alignedLines } from '../table.ts';
import { JUDGE_AXES } from './reply.ts';
import type { SelfPreference } from './self-preference.ts';
import type { AgreementSummary, GradeSummary, PairSummary } from './summarize.ts';

const show = (metric: Metric, interval: Interval, digits = 3): string => {
  if (metric.status !== 'ok') return `- (${metric.reason})`;
  const range =
    interval.status === 'ok' ? ` [${interval.low.toFixed(digits)}, ${interval.high.toFixed(digits)}]` : '';
  return `${metric.value.toFixed(digits)}${range}`;
};

const showProportion = ({ rate, interval, count, of }: Proportion): string =>
  `${show(rate, interval)} (${count}/${of})`;

const WARNINGS: Record<SelfPreference, string> = {
  'same-model': 'SELF: the judge wrote these',
  'same-family': "a relative of the judge's wrote these",
};

const warning = (value: SelfPreference | null): string => (value === null ? '' : WARNINGS[value]);

/** Grades by judge and set. */
export function gradeTable(summaries: readonly GradeSummary[], highest: number): string {
  const header = [
    'judge',
    'descriptions',
    ...JUDGE_AXES.map((axis) => `${axis} (0-${highest})`),
    'unparsable',
    'refused',
    '',
  ];
  const rows = summaries.map(({ judge, set, axes, unparsable, refused, selfPreference }) => [
    judge,
    set,
    ...JUDGE_AXES.map((axis) => `${show(axes[axis].mean, axes[axis].interval, 2)} n ${axes[axis].n}`),
    showProportion(unparsable),
    String(refused),
    warning(selfPreference),
  ]);
  return alignedLines([header, ...rows]).join('\n');
}

/** Agreement between judges, quadratic weighted kappa. */
export function agreementTable(summaries: readonly AgreementSummary[]): string {
  const header = ['weighted kappa', 'descriptions', ...JUDGE_AXES];
  const rows = summaries.map(({ judges, set, axes }) => [
    judges.join(' / '),
    set,
    ...JUDGE_AXES.map((axis) => `${show(axes[axis].kappa, axes[axis].interval)} n ${axes[axis].n}`),
  ]);
  return alignedLines([header, ...rows]).join('\n');
}

/** Comparisons by judge and axis. A is the first set. */
export function pairTable(summaries: readonly PairSummary[]): string {
  const header = [
    'judge',
    'axis',
    'A wins',
    'B wins',
    'ties',
    'by position',
    'A of decided',
    'first place preferred',
  ];
  const lines = summaries.flatMap((summary) => {
    const rows = JUDGE_AXES.map((axis) => {
      const { winsA, winsB, ties, byPosition, winRateA, firstPreferred } = summary.axes[axis];
      const counts = [winsA, winsB, ties, byPosition].map(String);
      return [summary.judge, axis, ...counts, showProportion(winRateA), showProportion(firstPreferred)];
    });
    const notes = summary.sets.map((name, at) => {
      const flag = warning(summary.selfPreference[at] ?? null);
      return `${at === 0 ? 'A' : 'B'}: ${name}${flag === '' ? '' : ` (${flag})`}`;
    });
    const { unparsable, refused, incomplete } = summary;
    return [
      ...alignedLines([header, ...rows]),
      `${notes.join('; ')}; unparsable ${showProportion(unparsable)}, refused ${refused}, comparisons without both orders ${incomplete}`,
    ];
  });
  return lines.join('\n');
}
