import { averageRanks } from './ranks.ts';
import { correlationProblem, finiteMetric, type Metric, metricValue, type Numbers } from './result.ts';

/** Pearson's r of pairs known to be finite and to vary. Deviations are scaled, so huge values do not overflow. */
export function pearson(x: Numbers, y: Numbers): number {
  const n = x.length;
  let meanX = 0;
  let meanY = 0;
  for (let i = 0; i < n; i++) {
    meanX += x[i]! / n;
    meanY += y[i]! / n;
  }
  let scaleX = 0;
  let scaleY = 0;
  for (let i = 0; i < n; i++) {
    scaleX = Math.max(scaleX, Math.abs(x[i]! - meanX));
    scaleY = Math.max(scaleY, Math.abs(y[i]! - meanY));
  }
  let xx = 0;
  let yy = 0;
  let xy = 0;
  for (let i = 0; i < n; i++) {
    const dx = (x[i]! - meanX) / scaleX;
    const dy = (y[i]! - meanY) / scaleY;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
}

/** Pearson linear correlation coefficient of raw scores, in [-1, 1]. */
export function plcc(scores: Numbers, targets: Numbers): Metric {
  return correlationProblem(scores, targets) ?? finiteMetric(pearson(scores, targets));
}

/** Spearman rank correlation coefficient: Pearson's r of average ranks, right with ties, in [-1, 1]. */
export function srcc(scores: Numbers, targets: Numbers): Metric {
  return (
    correlationProblem(scores, targets) ?? metricValue(pearson(averageRanks(scores), averageRanks(targets)))
  );
}
