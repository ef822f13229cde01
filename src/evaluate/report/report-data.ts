import type { Comparison } from '../compare.ts';
import type { Prediction } from '../predictions.ts';
import type { Summary } from '../summarize.ts';
import type { PanelId } from './panels.ts';

/** A row of metrics.jsonl: values by name at a step. Null is a value that was not finite. */
export type MetricRow = { readonly step: number } & Readonly<Record<string, number | null>>;

export interface StageReport {
  /** For example "Cold start (Q-Ponder-CI)". */
  name: string;
  rows: readonly MetricRow[];
  /** Panels this stage should have; one without any series is shown as missing. See COLD_START_PANELS, GRPO_PANELS. */
  expects: readonly PanelId[];
}

export interface SplitReport {
  /** Equal in all models, for example "Held-out scenes". */
  split: string;
  predictions: readonly Prediction[];
  summary: Summary;
}

export interface ModelReport {
  name: string;
  splits: readonly SplitReport[];
}

export interface ComparisonReport {
  split: string;
  /** Names of two of the models. */
  baseline: string;
  candidate: string;
  result: Comparison;
}

export interface ReportData {
  title: string;
  /** A sentence under the title. */
  subtitle?: string;
  /** ISO 8601. */
  createdAt: string;
  /** Configuration, seeds, versions, hashes: in the order given. */
  provenance: readonly { label: string; value: string }[];
  stages: readonly StageReport[];
  /** In the order of the tables: the baseline first. The gallery shows the last one. */
  models: readonly ModelReport[];
  comparisons: readonly ComparisonReport[];
  /** The encoded picture (PNG, JPEG, WebP or GIF) of a prediction, or undefined when there is none. */
  picture: (prediction: Prediction) => Promise<Uint8Array | undefined>;
  /** An encoded overview of the data set. */
  contactSheet?: Uint8Array;
  /** Pictures per gallery (best and worst, each split), default 6. */
  gallerySize?: number;
}
