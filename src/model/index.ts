// Of the names that checkpoint.ts has too, these are the room's: they know adapters.
export {
  baseOf,
  loadAnyModel,
  loadAnyModelFormat,
  loadModel,
  loadModelFormat,
  readModelShape,
  readSeenImages,
  requireModelFolder,
  saveModel,
} from './adapted-model.ts';
export * from './bicubic.ts';
export * from './chat-template.ts';
export * from './checkpoint.ts';
export * from './checkpoint-convert.ts';
export * from './checkpoint-copy.ts';
export { baseFingerprint } from './checkpoint-fingerprint.ts';
export * from './checkpoint-inspect.ts';
export { readWeights } from './checkpoint-load.ts';
export * from './checkpoint-save.ts';
export { readModelMetadata, StoredWeights, withWeights } from './checkpoint-weights.ts';
export * from './checkpointing.ts';
export * from './config.ts';
export * from './export/export-model.ts';
export { EXTERNAL_DATA_FILE, EXTERNAL_DATA_RULES, type ExternalDataRule } from './export/external-data.ts';
export * from './forward.ts';
export * from './generate.ts';
export { CompletionCollector } from './generate-completions.ts';
export * from './generate-images.ts';
export * from './generate-last-token.ts';
export { neverSampledTokenIds } from './generate-sampling.ts';
export { contextTensors, type GeneratingModel, rowsOf, startDecoding } from './generate-start.ts';
export * from './image-processor.ts';
export * from './layers.ts';
export * from './log-probabilities.ts';
export * from './lora/index.ts';
export * from './merge-adapter.ts';
export * from './parameters.ts';
export * from './patch-whitening.ts';
export * from './positions.ts';
export * from './prompt.ts';
export * from './sequence.ts';
export * from './smart-resize.ts';
export * from './text.ts';
export * from './text-only.ts';
export * from './tokenizer.ts';
export * from './user-text.ts';
export * from './views.ts';
export * from './vision.ts';
export * from './vision-plan.ts';
export * from './weights-hash.ts';
