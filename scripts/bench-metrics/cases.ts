import { Rng } from '../../src/core/index.ts';
import {
  bootstrapIntervals,
  correlations,
  type Metric,
  resampledPlcc,
  resampledSrcc,
} from '../../src/metrics/index.ts';
import type { Pairs, Sizes } from './data.ts';
import { type Contestant, measureHere } from './measure.ts';
import type { ScipyProcess } from './scipy-process.ts';

export interface Case {
  title: string;
  targetMilliseconds: number;
  contestants: Contestant[];
  /** How the first contestant's values and another's compare. */
  agreement: (ours: number[], theirs: number[]) => string;
}

export function cases({ scores, targets }: Pairs, sizes: Sizes, scipy: ScipyProcess | undefined): Case[] {
  const theirs = (tasks: Record<string, string>): Contestant[] =>
    scipy === undefined
      ? []
      : Object.entries(tasks).map(([name, task]) => ({ name, run: () => scipy.ask(task) }));
  const few = { scores: scores.slice(0, sizes.resampled), targets: targets.slice(0, sizes.resampled) };
  return [
    {
      title: `SRCC, PLCC and KRCC of ${sizes.pairs} pairs`,
      targetMilliseconds: 2000,
      contestants: [
        here(() => {
          const { srcc, plcc, krcc } = correlations(scores, targets);
          return [srcc, plcc, krcc].map(numberOf);
        }),
        ...theirs({ scipy: 'correlations' }),
      ],
      agreement: (ours, other) => `values differ by ${largestDifference(ours, other).toExponential(1)}`,
    },
    {
      title: `95 % intervals of SRCC and PLCC by ${sizes.resamples} resamples of ${sizes.resampled} pairs`,
      targetMilliseconds: 3000,
      contestants: [
        here(() => {
          const statistics = {
            srcc: resampledSrcc(few.scores, few.targets),
            plcc: resampledPlcc(few.scores, few.targets),
          };
          const { srcc, plcc } = bootstrapIntervals(sizes.resampled, statistics, {
            rng: new Rng(1),
            resamples: sizes.resamples,
          });
          return [srcc, plcc].flatMap((interval) => {
            if (interval.status !== 'ok') throw new Error(interval.detail);
            return [interval.low, interval.high];
          });
        }),
        ...theirs({ 'scipy.stats.bootstrap': 'bootstrap-scipy', 'numpy loop': 'bootstrap-numpy' }),
      ],
      agreement: (ours, other) =>
        `ends differ by ${((100 * largestDifference(ours, other)) / (ours[1]! - ours[0]!)).toFixed(1)} % of the width (the resamples are others)`,
    },
  ];
}

const here = (work: () => number[]): Contestant => ({
  name: 'q-ponder',
  run: () => Promise.resolve(measureHere(work)),
});

function numberOf(metric: Metric): number {
  if (metric.status !== 'ok') throw new Error(metric.detail);
  return metric.value;
}

const largestDifference = (a: number[], b: number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));
