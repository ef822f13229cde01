import type { RewardValue } from '../../core/index.ts';
import type { Comparison } from '../compare.ts';
import type { Prediction } from '../predictions.ts';
import type { Summary } from '../summarize.ts';
import type { PanelId } from './panels.ts';

/** A row of metrics.jsonl: values by name at a step. Null is a value that was not finite. */
export type MetricRow = { readonly step: number } & Readonly<Record<string, number | null>>;

/** A row of samples.jsonl: one completion that was sampled in training, with what each reward term gave it. */
export interface RolloutRow {
  step: number;
  /** Id of the training image. */
  image: string;
  mos: number;
  text: string;
  finishReason: 'stop' | 'length';
  /** By name of the term, unweighted. */
  terms: Readonly<Record<string, RewardValue>>;
  /** Weighted sum of the terms. */
  total: RewardValue;
}

/** A row of events.jsonl: what was out of the ordinary in training. */
export interface EventRow {
  step: number;
  /** A sentence for people. */
  message: string;
  /** Names of the series that show it. */
  metrics?: readonly string[] | undefined;
  /** The watchdog that barked, and what it did. */
  watchdog?: string | undefined;
  action?: string | undefined;
}

export interface StageReport {
  /** For example "Cold start (Q-Ponder-CI)". */
  name: string;
  rows: readonly MetricRow[];
  /** Panels this stage should have; one without any series is shown as missing. See COLD_START_PANELS, GRPO_PANELS. */
  expects: readonly PanelId[];
  /** Sampled completions; a few steps' groups of them are shown. */
  rollouts?: readonly RolloutRow[];
  /** Listed under the stage's name, and marked in the pictures of the series that they speak of. */
  events?: readonly EventRow[];
  /** The resolved configuration, shown key by key. */
  configuration?: Readonly<Record<string, unknown>>;
}

export interface Fact {
  label: string;
  value: string;
}

export interface SplitReport {
  /** Split or data set. Equal in all models, for example "Held-out scenes". */
  split: string;
  predictions: readonly Prediction[];
  summary: Summary;
  /** What the figures rest on: hashes, prompt, sampling, versions. */
  provenance?: readonly Fact[];
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

/** A published figure, shown beside the measured ones and marked as quoted. */
export interface QuotedResult {
  model: string;
  /** One of the splits of the report. */
  split: string;
  srcc?: number;
  plcc?: number;
  /** Where it was published, for example "arXiv 2501.11561, table 2". */
  source: string;
}

/** One row of the table of significance tests. */
export interface SignificanceRow {
  split: string;
  /** For example "Williams' test of the two SRCC". */
  test: string;
  /** For example "t(997) = 3.21". */
  statistic: string;
  /** In [0, 1]; absent where the test could not be made, which `verdict` then explains. */
  p?: number;
  verdict: string;
}

export interface ReportData {
  title: string;
  /** A sentence under the title. */
  subtitle?: string;
  /** ISO 8601. */
  createdAt: string;
  /** Configuration, seeds, versions, hashes: in the order given. */
  provenance: readonly Fact[];
  stages: readonly StageReport[];
  /** In the order of the tables: the baseline first. The gallery begins with the last one. */
  models: readonly ModelReport[];
  comparisons: readonly ComparisonReport[];
  /** The encoded picture (PNG, JPEG, WebP or GIF) of a prediction, or undefined when there is none. */
  picture: (prediction: Prediction) => Promise<Uint8Array | undefined>;
  /** The encoded picture of a rollout's image, where it can be had. */
  rolloutPicture?: (image: string) => Promise<Uint8Array | undefined>;
  /** An encoded overview of the data set. */
  contactSheet?: Uint8Array;
  quoted?: readonly QuotedResult[];
  significance?: readonly SignificanceRow[];
  /** The splits are data sets of one protocol: show their mean, weighted by images. Default false. */
  weightedMean?: boolean;
  /** Sentences that a reader must know before the figures, shown above them. */
  warnings?: readonly string[];
  /**
   * Most answers per model that the gallery holds, default 4000. Beyond it the worst are kept and the page says
   * how many are left out.
   */
  gallerySize?: number;
}
