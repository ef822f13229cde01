import { finiteMetric, type Metric, type Numbers, pairProblem } from './result.ts';

/** Root mean squared error, in the unit of the targets; scores and targets must be on one scale. */
export function rmse(scores: Numbers, targets: Numbers): Metric {
  const problem = pairProblem(scores, targets, 1);
  if (problem !== undefined) return problem;
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += (scores[i]! - targets[i]!) ** 2;
  return finiteMetric(Math.sqrt(sum / scores.length));
}

/** Mean absolute error, in the unit of the targets; scores and targets must be on one scale. */
export function mae(scores: Numbers, targets: Numbers): Metric {
  const problem = pairProblem(scores, targets, 1);
  if (problem !== undefined) return problem;
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += Math.abs(scores[i]! - targets[i]!);
  return finiteMetric(sum / scores.length);
}
