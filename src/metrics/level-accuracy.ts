import { levelOfScore, QUALITY_LEVELS } from '../core/index.ts';
import { type Proportion, proportion } from './proportion.ts';
import { type Numbers, pairProblem, type UndefinedBecause } from './result.ts';

export interface LevelAccuracy {
  status: 'ok';
  /** Scores whose level is that of the target. */
  exact: Proportion;
  /** ... or a neighbouring one. */
  withinOne: Proportion;
  /** Scores outside [1, 5]. They have no level and count as wrong, in both rates. */
  outside: number;
  /** confusion[t][s]: how many targets of level t have a score of level s, both from "bad" (0) up. */
  confusion: number[][];
}

/**
 * How often the quality level of a score is that of its target, both by `levelOfScore`. Scores and targets
 * must be on the scale 1 to 5, higher better; a target outside it throws, because it has no right answer.
 */
export function levelAccuracy(
  scores: Numbers,
  targets: Numbers,
  level = 0.95,
): LevelAccuracy | UndefinedBecause {
  const problem = pairProblem(scores, targets, 1);
  if (problem !== undefined) return problem;
  const confusion = QUALITY_LEVELS.map(() => QUALITY_LEVELS.map(() => 0));
  let [exact, withinOne, outside] = [0, 0, 0];
  for (let i = 0; i < scores.length; i++) {
    const target = levelNumber(targets[i]!);
    if (!(scores[i]! >= 1 && scores[i]! <= 5)) {
      outside++;
      continue;
    }
    const score = levelNumber(scores[i]!);
    confusion[target]![score]!++;
    if (score === target) exact++;
    if (Math.abs(score - target) <= 1) withinOne++;
  }
  return {
    status: 'ok',
    exact: proportion(exact, scores.length, 'pair', level),
    withinOne: proportion(withinOne, scores.length, 'pair', level),
    outside,
    confusion,
  };
}

const levelNumber = (score: number): number => QUALITY_LEVELS.indexOf(levelOfScore(score));
