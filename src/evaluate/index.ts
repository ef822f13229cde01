export {
  BASELINES,
  type Baseline,
  type BaselineName,
  featuresOf,
  fitBaseline,
  predictBaseline,
} from './baselines/index.ts';
export * from './compare.ts';
export type { Behaviour, BehaviourChange } from './compare-behaviour.ts';
export type { ImageChange, ScoreChanges } from './compare-images.ts';
export { type ComparisonPageOptions, writeComparisonPage } from './compare-page.ts';
export * from './compare-results.ts';
export { formatComparison } from './compare-table.ts';
export * from './correlate.ts';
export {
  correlationCsv,
  correlationLatex,
  correlationMarkdown,
  type ExportPaths,
  exportCorrelation,
} from './correlate-export.ts';
export { requireOwnFiles } from './correlate-guards.ts';
export type { Unmatched } from './correlate-input.ts';
export type { MeanRow } from './correlate-means.ts';
export type { CorrelateOptions } from './correlate-options.ts';
export type { CorrelationDifference, PairRow } from './correlate-pairs.ts';
export type { CorrelationRow } from './correlate-row.ts';
export { formatCorrelation } from './correlate-table.ts';
export * from './descriptions/index.ts';
export * from './leakage.ts';
export type { NamingSummary, Share } from './naming.ts';
export * from './predictions.ts';
export { type Result, readResults, shortNames } from './read-predictions.ts';
export type { RunProvenance } from './read-predictions-provenance.ts';
export * from './report/index.ts';
export * from './run-evaluation.ts';
export * from './run-identity.ts';
export * from './run-rows.ts';
export * from './run-server.ts';
export { pictureUrl } from './run-server.ts';
export * from './suites/index.ts';
export * from './summarize.ts';
export type { AccuracySummary, LevelRow } from './summarize-accuracy.ts';
export type { SkippedRow, Table, TableFormat } from './tables/index.ts';
