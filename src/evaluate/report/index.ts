export { rolloutPictures } from './load-pictures.ts';
export { type LoadReportOptions, loadReport } from './load-report.ts';
export { type LoadedStage, loadStage } from './load-stages.ts';
export {
  type ComparisonPageData,
  type SuiteReportData,
  type SuiteResultReport,
  writeComparisonReport,
  writeSuiteReport,
} from './pages.ts';
export { COLD_START_PANELS, GRPO_PANELS, type PanelId } from './panels.ts';
export type {
  ComparisonReport,
  EventRow,
  Fact,
  MetricRow,
  ModelReport,
  QuotedResult,
  ReportData,
  RolloutRow,
  SignificanceRow,
  SplitReport,
  StageReport,
} from './report-data.ts';
export { THEME_CSS } from './theme.ts';
export { type ReportFile, renderReport, writeReport } from './write-report.ts';
