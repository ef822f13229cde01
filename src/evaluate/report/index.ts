export { COLD_START_PANELS, GRPO_PANELS, type PanelId } from './panels.ts';
export type {
  ComparisonReport,
  MetricRow,
  ModelReport,
  ReportData,
  SplitReport,
  StageReport,
} from './report-data.ts';
export { renderReport, writeReport } from './write-report.ts';
