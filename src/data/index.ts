export { contactSheet } from './contact-sheet.ts';
export * from './decode.ts';
export * from './distortion-types.ts';
export * from './distortions.ts';
export * from './export/index.ts';
export { GENERATOR_VERSION, type GeneratedImage } from './generate.ts';
export { escaped, htmlPage, Thumbnails } from './html-page.ts';
export * from './import-csv.ts';
export { type ImportCsvConfig, importCsvConfigSchema } from './import-csv-config.ts';
export { type ImportManifestOptions, importManifest, type ManifestImportSummary } from './import-manifest.ts';
export { type ImportManifestConfig, importManifestConfigSchema } from './import-manifest-config.ts';
export { describeProblems } from './import-manifest-problems.ts';
export { describeColumns, hasLabels, type TableColumns, tableColumns } from './import-table.ts';
export { type Inspection, inspectDataset, MOS_BINS, type SplitInspection } from './inspect.ts';
export * from './lexicon.ts';
export * from './lexicon-reading.ts';
export * from './load.ts';
export { loadManifest, shippedManifests } from './manifest/index.ts';
export * from './prompts.ts';
export { cropImage, mirrorImage } from './raster.ts';
export * from './raters.ts';
export * from './records.ts';
export * from './scenes.ts';
export { ssim } from './similarity.ts';
export { type SplitConfig, splitConfigSchema } from './split/config.ts';
export { SPLITS_FILE, type SplitReport, splitDataset, splitHash } from './split/split.ts';
export * from './strength.ts';
export * from './synth.ts';
export * from './synth-config.ts';
export { type ValidateConfig, validateConfigSchema } from './validate/config.ts';
export {
  FINDING_KINDS,
  FINDING_TITLES,
  type Finding,
  type FindingKind,
  severityOf,
} from './validate/findings.ts';
export { outputOf, type ValidationReport, validateDataset } from './validate/validate.ts';
