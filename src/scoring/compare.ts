import type { Picture } from './inputs/index.ts';
import type { ScoreResult, ScoringMode } from './result.ts';
import type { Score, ScoreOptions, ScoringContext } from './score.ts';
import {
  centralInterval,
  differenceDistribution,
  type ScoreInterval,
  superiority,
} from './score-distribution.ts';
import { scoreList } from './score-many.ts';

/** Two pictures side by side. */
export interface Comparison {
  /** The one with the higher score; a tie below 1e-4, to which scores are reproducible; null where one has none. */
  better: 'a' | 'b' | 'tie' | null;
  /** Score of a minus score of b; null where one has none. */
  difference: number | null;
  /** The central 95 % of that difference, by the two distributions taken as independent. Absent without them. */
  interval?: ScoreInterval;
  /**
   * P(a is better) + P(they are equal) / 2 under the same two distributions, 1/2 for no difference. It is how sure
   * the model is of itself, not a rate that was measured against people. Null without distributions.
   */
  probability: number | null;
  a: Score;
  b: Score;
}

/** Scores of one picture differ by less, whatever is scored beside it. */
const REPRODUCIBLE = 1e-4;

/** What two scored pictures say about each other. */
export function compareResults(
  a: ScoreResult,
  b: ScoreResult,
): Pick<Comparison, 'better' | 'difference' | 'interval' | 'probability'> {
  if (a.score === null || b.score === null) return { better: null, difference: null, probability: null };
  const difference = a.score - b.score;
  const better = Math.abs(difference) < REPRODUCIBLE ? 'tie' : difference > 0 ? 'a' : 'b';
  if (a.distribution === undefined || b.distribution === undefined) {
    return { better, difference, probability: null };
  }
  return {
    better,
    difference,
    interval: centralInterval(differenceDistribution(a.distribution, b.distribution)),
    probability: superiority(a.distribution, b.distribution),
  };
}

/** Modes that say nothing about their doubt, in whose place a comparison takes `expected` unless it is asked not to. */
const CERTAIN: readonly ScoringMode[] = ['greedy', 'good-poor'];

/**
 * How each of two pictures is scored for a comparison, wherever it is made: with its distribution, in the mode asked
 * for, else in the `usual` one, or `expected` in place of one that cannot tell how sure it is. `sampled` draws for b
 * at the next place of a series: with the numbers drawn for a, the two would not be independent.
 */
export function comparisonOptions<T extends Pick<ScoreOptions, 'mode' | 'firstIndex'>>(
  options: T,
  usual: ScoringMode,
): { a: Compared<T>; b: Compared<T> } {
  const mode = options.mode ?? (CERTAIN.includes(usual) ? 'expected' : usual);
  const a: Compared<T> = { ...options, mode, distribution: true };
  return { a, b: mode === 'sampled' ? { ...a, firstIndex: (options.firstIndex ?? 0) + 1 } : a };
}

type Compared<T> = T & { mode: ScoringMode; distribution: true; firstIndex?: number };

/** Scores two pictures, in one pass where nothing is drawn, and compares them. An error names the picture it is about. */
export async function comparePictures(
  a: Picture,
  b: Picture,
  context: ScoringContext,
  options: ScoreOptions = {},
): Promise<Comparison> {
  const settings = comparisonOptions(options, context.mode);
  // What is drawn depends on what is drawn beside it: a picture alone is scored as `score` scores it.
  const scores =
    settings.a.mode === 'sampled'
      ? [...(await alone('a', a, context, settings.a)), ...(await alone('b', b, context, settings.b))]
      : await scoreList([a, b], context, settings.a, ['picture a', 'picture b']);
  const [first, second] = scores as [Score, Score];
  const compared = compareResults(first, second);
  const shown = (score: Score): Score => {
    const { distribution: _, ...rest } = score;
    return options.distribution ? score : rest;
  };
  return { ...compared, a: shown(first), b: shown(second) };
}

const alone = (name: 'a' | 'b', picture: Picture, context: ScoringContext, options: ScoreOptions) =>
  scoreList([picture], context, options, [`picture ${name}`]);
