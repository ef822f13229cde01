import { type Proportion, proportion } from './proportion.ts';
import { type Numbers, pairProblem, type UndefinedBecause, undefinedBecause } from './result.ts';

export interface OutlierOptions {
  /** How many deviations a residual may have, default 2. */
  times?: number;
  /** Coverage of the interval in (0, 1), default 0.95. */
  level?: number;
}

/**
 * Share of images whose residual |score - target| exceeds `times` the deviation of that image's opinions, an
 * outlier in the sense of VQEG. Scores must be on the scale of the targets: pass mapped ones (`fitLogistic`).
 *
 * What `deviations` holds decides between two definitions, which must not be mixed in one table:
 * the standard deviation of the opinions about the image (VQEG, FR-TV phase I, 2000, metric 4), or the
 * standard error of their mean, std / sqrt(votes), a far narrower band (VQEG, FR-TV phase II, 2003).
 */
export function outlierRatio(
  scores: Numbers,
  targets: Numbers,
  deviations: Numbers,
  { times = 2, level = 0.95 }: OutlierOptions = {},
): (Proportion & { status: 'ok' }) | UndefinedBecause {
  const problem = pairProblem(scores, targets, 1) ?? deviationProblem(scores, deviations);
  if (problem !== undefined) return problem;
  let outliers = 0;
  for (let i = 0; i < scores.length; i++) {
    if (Math.abs(scores[i]! - targets[i]!) > times * deviations[i]!) outliers++;
  }
  return { status: 'ok', ...proportion(outliers, scores.length, 'pair', level) };
}

function deviationProblem(scores: Numbers, deviations: Numbers): UndefinedBecause | undefined {
  if (scores.length !== deviations.length) {
    throw new RangeError(
      `got ${scores.length} scores and ${deviations.length} deviations; each image needs one`,
    );
  }
  let bad = 0;
  for (let i = 0; i < deviations.length; i++) {
    if (!(Number.isFinite(deviations[i]) && deviations[i]! >= 0)) bad++;
  }
  if (bad === 0) return undefined;
  return undefinedBecause(
    'not-finite',
    `${bad} of ${deviations.length} deviations are not finite or below 0`,
  );
}
