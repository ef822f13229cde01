export { type LabelProblem, PROBLEM_KINDS, type ProblemKind } from './labels.ts';
export {
  type LoadedManifest,
  loadManifest,
  MANIFESTS_FOLDER,
  parseManifest,
  shippedManifests,
} from './load.ts';
export { type Manifest, type ManifestForm, manifestSchema } from './schema.ts';
