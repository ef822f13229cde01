export { numberOf } from './numbers.ts';
export { type ReadTableOptions, readTable } from './read-table.ts';
export { type SkippedRow, skippedSentences } from './skipped.ts';
export { TABLE_FORMATS, type Table, type TableFormat, type WantedColumns } from './table.ts';
export {
  ALL,
  alignTable,
  intervalCell,
  metricCell,
  oneLine,
  type TextTable,
  UNDEFINED,
} from './text-table.ts';
