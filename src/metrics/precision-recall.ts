import type { Interval } from './bootstrap.ts';
import { type Proportion, proportion, wilsonInterval } from './proportion.ts';
import { type Metric, metricValue, undefinedBecause } from './result.ts';

export interface DetectionCounts {
  /** Named and present. */
  truePositives: number;
  /** Named, but not present. */
  falsePositives: number;
  /** Present, but not named. */
  falseNegatives: number;
}

export interface PrecisionRecall {
  precision: Proportion;
  recall: Proportion;
  f1: Metric;
  /**
   * From the Wilson interval of J = TP / (TP + FP + FN), of which F1 = 2 J / (1 + J) is a rising function.
   * Takes the number of things named or present as given. Compare Lam, Gopal and Qian, arXiv 2309.14621.
   */
  f1Interval: Interval;
}

/** Precision TP / (TP + FP), recall TP / (TP + FN) and their harmonic mean F1 = 2 TP / (2 TP + FP + FN). */
export function precisionRecall(counts: DetectionCounts, level = 0.95): PrecisionRecall {
  const { truePositives, falsePositives, falseNegatives } = counts;
  const union = truePositives + falsePositives + falseNegatives;
  const none = undefinedBecause('nothing-to-count', 'nothing is named or present');
  const jaccard = wilsonInterval(truePositives, union, level);
  const f1OfJaccard = (j: number): number => (2 * j) / (1 + j);
  return {
    precision: proportion(truePositives, truePositives + falsePositives, 'thing named', level),
    recall: proportion(truePositives, truePositives + falseNegatives, 'thing present', level),
    f1: union === 0 ? none : metricValue((2 * truePositives) / (union + truePositives)),
    f1Interval:
      jaccard.status === 'ok'
        ? { ...jaccard, low: f1OfJaccard(jaccard.low), high: f1OfJaccard(jaccard.high) }
        : none,
  };
}
