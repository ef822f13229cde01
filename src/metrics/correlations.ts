import { pearson } from './correlation.ts';
import { tauB } from './krcc.ts';
import { averageOfTied, denseRanks } from './ranks.ts';
import { correlationProblem, finiteMetric, type Metric, metricValue, type Numbers } from './result.ts';

export interface Correlations {
  srcc: Metric;
  plcc: Metric;
  krcc: Metric;
}

/** `srcc`, `plcc` and `krcc` of the same pairs; sorts each side once, which is most of the work. */
export function correlations(scores: Numbers, targets: Numbers): Correlations {
  const problem = correlationProblem(scores, targets);
  if (problem !== undefined) return { srcc: problem, plcc: problem, krcc: problem };
  const x = denseRanks(scores);
  const y = denseRanks(targets);
  return {
    srcc: metricValue(pearson(averageOfTied(x), averageOfTied(y))),
    plcc: finiteMetric(pearson(scores, targets)),
    krcc: metricValue(tauB(x, y)),
  };
}
