import type { LogisticModel } from '../metrics/index.ts';

/** Null is the same as absent. */
export interface CorrelateOptions {
  /** Tables of predictions: CSV, JSON Lines or Parquet. Several are read as parts of one, or as data sets. */
  files: readonly string[];
  /** Columns of predicted scores. With two or more, each pair is tested for a difference. */
  predictions: readonly string[];
  /** Column of subjective targets (MOS or DMOS), in the files or in `labels`. */
  target: string;
  /**
   * Column whose values split the rows into groups, each measured alone as well. "dataset" also gives the mean
   * over data sets weighted by their size, and means the file where there is no such column; "distortion" means
   * the main true distortion in predictions of our own.
   */
  by?: string | null;
  /** A second table that holds the targets, joined by `id`. */
  labels?: string | null;
  /** Column that identifies an image. Values must be unique. */
  id?: string | null;
  /** Its name in `labels`, default the same. */
  labelsId?: string | null;
  /** The targets are DMOS-like: lower is better. SRCC, PLCC and KRCC then change sign, so that 1 is perfect. */
  lowerBetter?: boolean;
  /** Mapping fitted before the second PLCC, default "logistic4". */
  fit?: LogisticModel | 'none';
  /** CSV only, default ",". */
  delimiter?: string | null;
  /** Bootstrap resamples, default 1000; 0 for no intervals. */
  resamples?: number;
  /** Coverage of the intervals in (0, 1), default 0.95. */
  level?: number;
  seed?: number | string;
  /** Version of the code that measures, kept in the report. */
  codeVersion?: string;
}
