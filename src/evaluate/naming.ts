import { NEAREST_TRAINING_TYPE } from '../data/index.ts';
import { type Metric, metricValue, undefinedBecause } from '../metrics/index.ts';
import type { Prediction } from './predictions.ts';

/** A count out of a total, and their ratio where the total is not 0. */
export interface Share {
  count: number;
  of: number;
  rate: Metric;
}

export function share(count: number, of: number, what: string): Share {
  const rate = of === 0 ? undefinedBecause('nothing-to-count', `no ${what}`) : metricValue(count / of);
  return { count, of, rate };
}

/** How well the reasoning names the distortions that are in the picture. Unknown truth is left out. */
export interface NamingSummary {
  /** Distorted pictures whose first named type is among the true ones, or is the nearest relative of one. */
  firstNamed: Share;
  /** Of those with both severities known, how many state exactly the true one. */
  severityExact: Share;
  /** ... and how many are at most one step off. */
  severityWithinOne: Share;
  /** Micro averages over types: named and true types are sets per picture. */
  precision: Share;
  recall: Share;
  f1: Metric;
  /** Pristine pictures of which a distortion is claimed. */
  falseAlarms: Share;
}

/**
 * Distortions kept for the cross-domain test have no word that a student ever learnt: naming the nearest trained
 * relative (Gaussian blur for defocus) is the most that can be asked, and counts as right.
 */
const nameable = (type: string): string =>
  (NEAREST_TRAINING_TYPE as Readonly<Record<string, string>>)[type] ?? type;

export function summarizeNaming(predictions: readonly Prediction[]): NamingSummary {
  let [distorted, first, withSeverity, exact, withinOne] = [0, 0, 0, 0, 0];
  let [hits, named, present, pristine, alarms] = [0, 0, 0, 0, 0];
  for (const { distortionsNamed, distortionsTrue } of predictions) {
    if (distortionsTrue === undefined) continue;
    const trueLevels = new Map(distortionsTrue.map(({ type, level }) => [nameable(type), level]));
    const namedTypes = new Set(distortionsNamed.map(({ type }) => nameable(type)));
    named += namedTypes.size;
    present += trueLevels.size;
    for (const type of namedTypes) if (trueLevels.has(type)) hits++;
    if (trueLevels.size === 0) {
      pristine++;
      if (namedTypes.size > 0) alarms++;
      continue;
    }
    distorted++;
    const claim = distortionsNamed[0];
    if (claim === undefined || !trueLevels.has(nameable(claim.type))) continue;
    first++;
    const level = trueLevels.get(nameable(claim.type));
    if (level === undefined || claim.level === undefined) continue;
    withSeverity++;
    if (claim.level === level) exact++;
    if (Math.abs(claim.level - level) <= 1) withinOne++;
  }
  return {
    firstNamed: share(first, distorted, 'distorted picture with known truth'),
    severityExact: share(exact, withSeverity, 'rightly named distortion with both severities known'),
    severityWithinOne: share(withinOne, withSeverity, 'rightly named distortion with both severities known'),
    precision: share(hits, named, 'distortion named'),
    recall: share(hits, present, 'distortion present'),
    f1:
      named + present === 0
        ? undefinedBecause('nothing-to-count', 'no distortion is named or present')
        : metricValue((2 * hits) / (named + present)),
    falseAlarms: share(alarms, pristine, 'pristine picture'),
  };
}
