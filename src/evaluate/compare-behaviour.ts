import { levelOfScore, Rng } from '../core/index.ts';
import {
  bootstrapIntervals,
  type Interval,
  type Metric,
  metricValue,
  resampledDifference,
  resampledMean,
  undefinedBecause,
} from '../metrics/index.ts';
import type { IntervalOptions, PredictionPair } from './compare-results.ts';
import { summarizeNaming } from './naming.ts';
import { type Prediction, SCORE_RANGE } from './predictions.ts';

/** Whether an answer does it, or null where the question has no meaning for it. */
type Question = (prediction: Prediction) => boolean | null;

const hasLevelAndScore = ({ score, levelStated }: Prediction): boolean =>
  score !== null && score >= SCORE_RANGE.lowest && score <= SCORE_RANGE.highest && levelStated !== undefined;

/** Ways to answer that a change of SRCC does not show. */
const QUESTIONS = {
  'has a score': ({ score }) => score !== null,
  'keeps the output contract': ({ wellFormed }) => wellFormed,
  'is cut at the length limit': ({ finishReason }) => finishReason === 'length',
  'states one quality level': ({ levelStated }) => levelStated !== undefined,
  'stated level agrees with the score': (p) =>
    hasLevelAndScore(p) ? levelOfScore(p.score!) === p.levelStated : null,
  'names a true distortion first': (p) =>
    (p.distortionsTrue ?? []).length === 0 ? null : summarizeNaming([p]).firstNamed.count === 1,
  'claims a distortion of a pristine picture': ({ distortionsTrue, distortionsNamed }) =>
    distortionsTrue?.length === 0 ? distortionsNamed.length > 0 : null,
} as const satisfies Record<string, Question>;

export type Behaviour = keyof typeof QUESTIONS;

export interface BehaviourChange {
  behaviour: Behaviour;
  /** Images for which the question has a meaning on both sides. */
  images: number;
  /** Shares of these images. */
  baseline: Metric;
  candidate: Metric;
  /** Candidate minus baseline, paired by image. */
  difference: Metric;
  interval: Interval;
}

/** How often each behaviour occurs before and after, over all images of both, with a score or without. */
export function behaviourChanges(
  pairs: readonly PredictionPair[],
  { resamples, level, seed }: IntervalOptions,
): BehaviourChange[] {
  const rng = new Rng(seed).fork('bootstrap', 'behaviour');
  return (Object.entries(QUESTIONS) as [Behaviour, Question][]).map(([behaviour, ask]) => {
    const answers = pairs.flatMap(({ baseline, candidate }) => {
      const [before, after] = [ask(baseline), ask(candidate)];
      return before === null || after === null ? [] : [[Number(before), Number(after)] as const];
    });
    const images = answers.length;
    if (images === 0) {
      const none = undefinedBecause(
        'nothing-to-count',
        'the question has a meaning for no image on both sides',
      );
      return { behaviour, images, baseline: none, candidate: none, difference: none, interval: none };
    }
    const before = answers.map(([value]) => value);
    const after = answers.map(([, value]) => value);
    const { interval } = bootstrapIntervals(
      images,
      { interval: resampledDifference(resampledMean(before), resampledMean(after)) },
      { resamples, level, rng: rng.fork(behaviour) },
    );
    const [from, to] = [share(before), share(after)];
    return {
      ...{ behaviour, images, interval },
      baseline: metricValue(from),
      candidate: metricValue(to),
      difference: metricValue(to - from),
    };
  });
}

const share = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
