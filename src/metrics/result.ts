/** Why a metric has no value. A metric without a value is never reported as NaN or 0. */
export type UndefinedReason =
  | 'too-few'
  | 'not-finite'
  | 'outside-scale'
  | 'constant-scores'
  | 'constant-targets'
  | 'perfect-correlation'
  | 'identical-predictors'
  | 'constant-residuals'
  | 'fit-not-converged'
  | 'fit-flips-sign'
  | 'resamples-undefined'
  | 'nothing-to-count';

export interface UndefinedBecause {
  status: 'undefined-because';
  reason: UndefinedReason;
  /** One sentence with the numbers that led to it. */
  detail: string;
}

export interface MetricValue {
  status: 'ok';
  /** Always finite. */
  value: number;
}

/** A number, or the reason why there is none. */
export type Metric = MetricValue | UndefinedBecause;

export const metricValue = (value: number): MetricValue => ({ status: 'ok', value });

/** A computed value, unless the numbers were so large that computing it overflowed. */
export const finiteMetric = (value: number): Metric =>
  Number.isFinite(value)
    ? metricValue(value)
    : undefinedBecause('not-finite', 'the values are too large to compute with');

export const undefinedBecause = (reason: UndefinedReason, detail: string): UndefinedBecause => ({
  status: 'undefined-because',
  reason,
  detail,
});

/** Paired observations, equal in length: predicted scores and the subjective targets (MOS). */
export type Numbers = ArrayLike<number>;

export function isConstant(values: Numbers): boolean {
  for (let i = 1; i < values.length; i++) if (values[i] !== values[0]) return false;
  return true;
}

/**
 * What keeps any statistic of pairs from being computed, or undefined when nothing does. Lists of unequal
 * length are a mistake of the caller and throw.
 */
export function pairProblem(
  scores: Numbers,
  targets: Numbers,
  atLeast: number,
): UndefinedBecause | undefined {
  if (scores.length !== targets.length) {
    throw new RangeError(`got ${scores.length} scores and ${targets.length} targets; they must be pairs`);
  }
  const n = scores.length;
  if (n < atLeast) return undefinedBecause('too-few', `${n} pair(s), at least ${atLeast} needed`);
  let bad = 0;
  for (let i = 0; i < n; i++) if (!Number.isFinite(scores[i]) || !Number.isFinite(targets[i])) bad++;
  if (bad > 0) return undefinedBecause('not-finite', `${bad} of ${n} pairs hold NaN or infinity`);
  return undefined;
}

/** `pairProblem` for correlations, which also need variance on both sides. */
export function correlationProblem(scores: Numbers, targets: Numbers): UndefinedBecause | undefined {
  const problem = pairProblem(scores, targets, 2);
  if (problem !== undefined) return problem;
  if (isConstant(scores)) {
    return undefinedBecause('constant-scores', `all ${scores.length} scores equal ${scores[0]}`);
  }
  if (isConstant(targets)) {
    return undefinedBecause('constant-targets', `all ${targets.length} targets equal ${targets[0]}`);
  }
  return undefined;
}
