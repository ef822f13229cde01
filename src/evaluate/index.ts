export * from './compare.ts';
export * from './correlate.ts';
export * from './correlate-table.ts';
export type { NamingSummary, Share } from './naming.ts';
export type { SkippedLine } from './number-columns.ts';
export * from './predictions.ts';
export * from './report/index.ts';
export * from './run-evaluation.ts';
export * from './summarize.ts';
