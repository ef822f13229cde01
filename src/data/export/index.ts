export { type ExportConfig, exportConfigSchema } from './config.ts';
export { EXPORT_FILE, type ExportSummary, exportDataset } from './export-dataset.ts';
export { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, type ExportFormatName, type ExportItem } from './formats.ts';
