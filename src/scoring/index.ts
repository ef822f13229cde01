export { type Comparison, compareResults, comparisonOptions } from './compare.ts';
export * from './default-model.ts';
export * from './expected-score.ts';
export {
  type BlobLike,
  INPUT_DEFAULTS,
  type InputOptions,
  type InputRules,
  inputRules,
  type NodeByteStream,
  openPicture,
  PICTURE_FORMATS,
  type Picture,
  type PictureFormat,
  requireFormat,
  type WebByteStream,
} from './inputs/index.ts';
export * from './read-completion.ts';
export * from './readings/index.ts';
export * from './result.ts';
export type { BatchItem, Score, ScoreOptions, ScoreTimings } from './score.ts';
export * from './score-distribution.ts';
export {
  questionSequence,
  requireScoreOptions,
  type ScoreImagesOptions,
  scoreImages,
  viewCount,
} from './score-images.ts';
export { type BatchOptions, namedError } from './score-many.ts';
export type { ScoreEvent } from './score-stream.ts';
export * from './scorer.ts';
export { streamCompletion } from './stream-completion.ts';
