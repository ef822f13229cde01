import {
  type DetectionCounts,
  type Metric,
  metricValue,
  type PrecisionRecall,
  type Proportion,
  precisionRecall,
  proportion,
  undefinedBecause,
} from '../../metrics/index.ts';
import type { Reading } from './reading.ts';

export interface SeveritySummary {
  /** Rightly named types that come with a severity word. */
  stated: Proportion;
  /** Of those, the true severity, and at most one step off. */
  exact: Proportion;
  withinOne: Proportion;
  /** Mean of stated minus true severity, steps: above 0 is exaggeration. */
  bias: Metric;
  /** A type named with its true severity counts as right; another severity, or none, as wrong. */
  detection: PrecisionRecall;
}

export interface TypeRow {
  /** A type, or a family of types, as the vocabulary calls it. */
  type: string;
  /** Pictures that have it. */
  present: number;
  naming: PrecisionRecall;
  severity: SeveritySummary;
}

export interface NamingByTruth {
  naming: PrecisionRecall;
  severity: SeveritySummary;
  /** By type, in alphabetical order; types that are neither named nor present are left out. */
  byType: TypeRow[];
  /** Unweighted mean of the F1 of the types that are present in at least one picture. */
  macroF1: Metric;
}

interface Counts {
  types: DetectionCounts;
  exactSeverity: DetectionCounts;
  stated: number;
  known: number;
  exact: number;
  withinOne: number;
  bias: number;
}

const none = (): DetectionCounts => ({ truePositives: 0, falsePositives: 0, falseNegatives: 0 });

const emptyCounts = (): Counts => ({
  types: none(),
  exactSeverity: none(),
  stated: 0,
  known: 0,
  exact: 0,
  withinOne: 0,
  bias: 0,
});

function count(counts: Counts, { named, present = new Map() }: Reading, type: string): void {
  const isNamed = named.has(type);
  const isPresent = present.has(type);
  const [said, truth] = [named.get(type), present.get(type)];
  const right = isNamed && isPresent;
  if (right) counts.types.truePositives++;
  else if (isNamed) counts.types.falsePositives++;
  else if (isPresent) counts.types.falseNegatives++;
  if (right && truth !== undefined) {
    counts.known++;
    if (said !== undefined) {
      counts.stated++;
      if (said === truth) counts.exact++;
      if (Math.abs(said - truth) <= 1) counts.withinOne++;
      counts.bias += said - truth;
    }
  }
  // Where nobody knows the severity there is nothing to be right or wrong about.
  if (isPresent && truth === undefined) return;
  if (right && said === truth) counts.exactSeverity.truePositives++;
  else {
    if (isNamed) counts.exactSeverity.falsePositives++;
    if (isPresent) counts.exactSeverity.falseNegatives++;
  }
}

function severityOf(counts: Counts, level: number): SeveritySummary {
  const { known, stated, exact, withinOne, bias } = counts;
  return {
    stated: proportion(stated, known, 'rightly named distortion of known severity', level),
    exact: proportion(exact, stated, 'rightly named distortion with a severity', level),
    withinOne: proportion(withinOne, stated, 'rightly named distortion with a severity', level),
    bias:
      stated === 0
        ? undefinedBecause('nothing-to-count', 'no rightly named distortion with a severity')
        : metricValue(bias / stated),
    detection: precisionRecall(counts.exactSeverity, level),
  };
}

/** Named against present distortions, over the readings whose truth is known. */
export function countNaming(readings: readonly Reading[], level: number): NamingByTruth {
  const total = emptyCounts();
  const byType = new Map<string, Counts>();
  const presentIn = new Map<string, number>();
  for (const reading of readings) {
    if (reading.present === undefined) continue;
    for (const type of new Set([...reading.named.keys(), ...reading.present.keys()])) {
      const own = byType.get(type) ?? emptyCounts();
      byType.set(type, own);
      count(own, reading, type);
      count(total, reading, type);
      if (reading.present.has(type)) presentIn.set(type, (presentIn.get(type) ?? 0) + 1);
    }
  }
  const rows = [...byType]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([type, counts]) => ({
      type,
      present: presentIn.get(type) ?? 0,
      naming: precisionRecall(counts.types, level),
      severity: severityOf(counts, level),
    }));
  const f1s = rows.flatMap(({ present, naming: { f1 } }) =>
    present > 0 && f1.status === 'ok' ? [f1.value] : [],
  );
  return {
    naming: precisionRecall(total.types, level),
    severity: severityOf(total, level),
    byType: rows,
    macroF1:
      f1s.length === 0
        ? undefinedBecause('nothing-to-count', 'no distortion is present')
        : metricValue(f1s.reduce((sum, f1) => sum + f1, 0) / f1s.length),
  };
}
