/**
 * The library: scoring pictures with a trained model. Training, evaluation and data are reached through the
 * command line `q-ponder`.
 */
export {
  CheckpointError,
  ConfigError,
  EngineError,
  ERROR_CODES,
  type ErrorCode,
  GateError,
  InputError,
  InterruptedError,
  levelOfScore,
  QPonderError,
  QUALITY_LEVELS,
  type QualityLevel,
  type RgbImage,
  StorageError,
  TrainingError,
} from './core/index.ts';
export { decodeImage } from './data/index.ts';
export {
  createScorer,
  type ScoreImagesOptions,
  type ScoreMode,
  type ScoreResult,
  type Scorer,
  type ScorerOptions,
  type ScorerProvenance,
} from './scoring/index.ts';
