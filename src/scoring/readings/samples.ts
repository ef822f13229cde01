import { levelOfScore } from '../../core/index.ts';
import type { ScoreResult } from '../result.ts';
import { distributionOfWeights } from '../score-distribution.ts';

/**
 * Several sampled answers about one picture as one result: the mean of the scores that there are and their
 * standard deviation (n - 1; absent below two). What is without a score is counted and stands for nothing. Text and
 * reasoning are those of the sample nearest to the mean, the first of equals. Where no sample has a score, the
 * result is the first sample's.
 */
export function meanOfSamples(samples: readonly ScoreResult[]): ScoreResult {
  const [first] = samples;
  if (first === undefined) throw new RangeError('meanOfSamples: there is no sample');
  const counted = { drawn: samples.length, scores: samples.map(({ score }) => score) };
  const scored = samples.filter((one): one is ScoreResult & { score: number } => one.score !== null);
  if (scored.length === 0) return { ...first, samples: counted };
  const mean = scored.reduce((sum, { score }) => sum + score, 0) / scored.length;
  const spread = scored.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
  const nearest = scored.reduce((best, one) =>
    Math.abs(one.score - mean) < Math.abs(best.score - mean) ? one : best,
  );
  return {
    ...nearest,
    score: mean,
    level: levelOfScore(mean),
    scoreWritten: nearest.score,
    ...(scored.length < 2
      ? {}
      : {
          std: Math.sqrt(spread / (scored.length - 1)),
          distribution: distributionOfWeights(
            scored.map((one) => one.score),
            scored.map(() => 1),
          ),
        }),
    samples: counted,
  };
}
