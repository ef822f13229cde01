import { levelOfScore } from '../core/index.ts';
import type { ScoreResult } from './result.ts';
import { averageDistribution } from './score-distribution.ts';

/**
 * One result of the results about the views of one picture: the score is their mean, the words are those of the
 * view whose own score lies nearest to it (the first of them). A picture with a view that cannot be read has no
 * score: the mean over the others would be a score of another picture.
 *
 * @param views at least one, the centre first
 */
export function mergeViews(views: readonly ScoreResult[]): ScoreResult {
  const unread = views.find(({ status }) => status !== 'ok');
  if (unread !== undefined || views.length === 1) return unread ?? views[0]!;
  const scores = views.map(({ score }) => score!);
  const score = scores.reduce((sum, value) => sum + value, 0) / scores.length;
  const distance = (result: ScoreResult): number => Math.abs(result.score! - score);
  const nearest = views.reduce((best, result) => (distance(result) < distance(best) ? result : best));
  const { scoreWritten, std: _, distribution: _own, ...rest } = nearest;
  return {
    ...rest,
    score,
    level: levelOfScore(score),
    ...(scoreWritten === undefined ? {} : { scoreWritten }),
    ...spreadOf(views),
    ...doubtOf(views),
    views: scores,
  };
}

/** Root mean square of the views' own spreads, where each has one. */
function spreadOf(views: readonly ScoreResult[]): { std: number } | Record<string, never> {
  const squares = views.flatMap(({ std }) => (std === undefined ? [] : [std * std]));
  if (squares.length < views.length) return {};
  return { std: Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length) };
}

/** The distribution of the views' mean, where each has one. */
function doubtOf(views: readonly ScoreResult[]): Pick<ScoreResult, 'distribution'> {
  const known = views.flatMap(({ distribution }) => (distribution === undefined ? [] : [distribution]));
  return known.length < views.length ? {} : { distribution: averageDistribution(known) };
}
