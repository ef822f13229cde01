import { Rng } from '../../../core/index.ts';
import {
  bootstrapIntervals,
  type Interval,
  type Metric,
  metricValue,
  type Proportion,
  proportion,
  resampledMean,
  resampledWeightedKappa,
  undefinedBecause,
  weightedKappa,
} from '../../../metrics/index.ts';
import type { Judgement } from './journal.ts';
import type { Judging } from './judge.ts';
import { JUDGE_AXES, type JudgeAxis } from './reply.ts';
import { type SelfPreference, selfPreference } from './self-preference.ts';

export interface JudgeSummaryOptions {
  seed?: number | string;
  /** Bootstrap resamples over pictures, default 1000. */
  resamples?: number;
  level?: number;
}

export interface AxisSummary {
  /** Pictures with at least one reply that could be read. */
  n: number;
  /** Mean over pictures of the mean over their samples, from 0 to the highest grade. */
  mean: Metric;
  interval: Interval;
}

export interface GradeSummary {
  judge: string;
  set: string;
  axes: Record<JudgeAxis, AxisSummary>;
  /** Replies without grades, of all replies. They count nowhere else. */
  unparsable: Proportion;
  refused: number;
  selfPreference: SelfPreference | null;
}

const byKey = <T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
};

export const unparsableIn = (judgements: readonly Judgement[], level: number): Proportion =>
  proportion(
    judgements.filter(({ status }) => status === 'unparsable').length,
    judgements.length,
    'reply',
    level,
  );

const countRefused = (judgements: readonly Judgement[]): number =>
  judgements.filter(({ status }) => status === 'refused').length;

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Grades of one axis by picture, for the pictures that have any. */
function gradesByPicture(judgements: readonly Judgement[], axis: JudgeAxis): Map<string, number[]> {
  const graded = judgements.flatMap(({ id, grades }) =>
    grades === undefined ? [] : [{ id, grade: grades[axis] }],
  );
  const groups = byKey(graded, ({ id }) => id);
  return new Map([...groups].map(([id, rows]) => [id, rows.map(({ grade }) => grade)]));
}

/** The grades of one judge, for each set that it graded. */
export function summarizeGrades(
  { identity, judgements }: Pick<Judging, 'identity' | 'judgements'>,
  { seed = 0, resamples = 1000, level = 0.95 }: JudgeSummaryOptions = {},
): GradeSummary[] {
  return identity.sets.map(({ name, model }) => {
    const own = judgements.filter(({ set }) => set === name);
    const axisOf = (axis: JudgeAxis): AxisSummary => {
      const means = [...gradesByPicture(own, axis).values()].map(meanOf);
      const none = undefinedBecause('too-few', 'no reply could be read');
      if (means.length === 0) return { n: 0, mean: none, interval: none };
      const rng = new Rng(seed).fork('bootstrap', 'grades', name, axis);
      const { interval } = bootstrapIntervals(
        means.length,
        { interval: resampledMean(means) },
        { rng, resamples, level },
      );
      return { n: means.length, mean: metricValue(meanOf(means)), interval };
    };
    return {
      judge: identity.judge.model,
      set: name,
      axes: Object.fromEntries(JUDGE_AXES.map((axis) => [axis, axisOf(axis)])) as GradeSummary['axes'],
      unparsable: unparsableIn(own, level),
      refused: countRefused(own),
      selfPreference: selfPreference(identity.judge.model, model),
    };
  });
}

export interface AgreementSummary {
  judges: [string, string];
  set: string;
  axes: Record<JudgeAxis, { n: number; kappa: Metric; interval: Interval }>;
}

/** The middle grade; of two in the middle the lower one, so that it is a grade of the scale. */
function median(grades: readonly number[]): number {
  const sorted = [...grades].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] as number;
}

/**
 * Agreement of two judges, for each set that both graded: quadratic weighted kappa of their median grades, over
 * the pictures that both have a grade for.
 */
export function judgeAgreement(
  first: Pick<Judging, 'identity' | 'judgements'>,
  second: Pick<Judging, 'identity' | 'judgements'>,
  { seed = 0, resamples = 1000, level = 0.95 }: JudgeSummaryOptions = {},
): AgreementSummary[] {
  const scale = { weights: 'quadratic', lowest: 0, highest: first.identity.highest } as const;
  return first.identity.sets.map(({ name }) => {
    const axisOf = (axis: JudgeAxis): AgreementSummary['axes'][JudgeAxis] => {
      const a = gradesByPicture(
        first.judgements.filter(({ set }) => set === name),
        axis,
      );
      const b = gradesByPicture(
        second.judgements.filter(({ set }) => set === name),
        axis,
      );
      const common = [...a.keys()].filter((id) => b.has(id));
      const one = common.map((id) => median(a.get(id) ?? []));
      const other = common.map((id) => median(b.get(id) ?? []));
      const kappa = weightedKappa(one, other, scale);
      if (kappa.status !== 'ok') return { n: common.length, kappa, interval: kappa };
      const rng = new Rng(seed).fork('bootstrap', 'kappa', name, axis);
      const statistics = { interval: resampledWeightedKappa(one, other, scale) };
      const { interval } = bootstrapIntervals(common.length, statistics, { rng, resamples, level });
      return { n: common.length, kappa, interval };
    };
    return {
      judges: [first.identity.judge.model, second.identity.judge.model],
      set: name,
      axes: Object.fromEntries(JUDGE_AXES.map((axis) => [axis, axisOf(axis)])) as AgreementSummary['axes'],
    };
  });
}

export interface PairAxisSummary {
  /** Comparisons in which both orders name the same winner. */
  winsA: number;
  winsB: number;
  /** Both orders say "tie". */
  ties: number;
  /** The two orders disagree: the place decided, not the text. Nobody wins. */
  byPosition: number;
  /** Wins of A among the comparisons with a winner. */
  winRateA: Proportion;
  /** Verdicts for whatever stood first, among all verdicts but ties: 0.5 without position bias. */
  firstPreferred: Proportion;
}

export interface PairSummary {
  judge: string;
  sets: [string, string];
  axes: Record<JudgeAxis, PairAxisSummary>;
  /** Comparisons of which an order has no verdict: they count nowhere else. */
  incomplete: number;
  unparsable: Proportion;
  refused: number;
  /** Of A and of B: a judge that is one of the two may favour it. */
  selfPreference: [SelfPreference | null, SelfPreference | null];
}

function pairAxis(
  pairs: readonly (readonly [Judgement, Judgement])[],
  axis: JudgeAxis,
  level: number,
): PairAxisSummary {
  const counts = { winsA: 0, winsB: 0, ties: 0, byPosition: 0 };
  let decided = 0;
  let first = 0;
  for (const [ab, ba] of pairs) {
    const [straight, swapped] = [ab.verdicts?.[axis], ba.verdicts?.[axis]];
    for (const verdict of [straight, swapped]) {
      if (verdict === 'tie') continue;
      decided++;
      if (verdict === 'first') first++;
    }
    if (straight === 'tie' && swapped === 'tie') counts.ties++;
    else if (straight === 'first' && swapped === 'second') counts.winsA++;
    else if (straight === 'second' && swapped === 'first') counts.winsB++;
    else counts.byPosition++;
  }
  return {
    ...counts,
    winRateA: proportion(counts.winsA, counts.winsA + counts.winsB, 'comparison with a winner', level),
    firstPreferred: proportion(first, decided, 'verdict other than a tie', level),
  };
}

/** Comparisons of two sets by one judge: only what both orders say counts. */
export function summarizePairs(
  { identity, judgements, asked }: Pick<Judging, 'identity' | 'judgements' | 'asked'>,
  { level = 0.95 }: JudgeSummaryOptions = {},
): PairSummary {
  const read = judgements.filter(({ verdicts }) => verdicts !== undefined);
  const pairs = [...byKey(read, ({ id, sample }) => JSON.stringify([id, sample])).values()].flatMap(
    (rows) => {
      const [ab, ba] = [rows.find(({ swapped }) => !swapped), rows.find(({ swapped }) => swapped)];
      return ab === undefined || ba === undefined ? [] : [[ab, ba] as const];
    },
  );
  const { model } = identity.judge;
  const [a, b] = identity.sets;
  return {
    judge: model,
    sets: [a?.name ?? '', b?.name ?? ''],
    axes: Object.fromEntries(
      JUDGE_AXES.map((axis) => [axis, pairAxis(pairs, axis, level)]),
    ) as PairSummary['axes'],
    incomplete: asked / 2 - pairs.length,
    unparsable: unparsableIn(judgements, level),
    refused: countRefused(judgements),
    selfPreference: [selfPreference(model, a?.model), selfPreference(model, b?.model)],
  };
}
