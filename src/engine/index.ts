/** The only room that imports TensorFlow.js and onnxruntime-node. */
export * as tf from '@tensorflow/tfjs';
export { checkpointed } from './checkpointed.ts';
export * from './decode/index.ts';
export { type ExportDims, type ExportSpec, exportGraph, MOST_INLINE_BYTES } from './export-graph.ts';
export { EXTERNAL_ALIGNMENT, ExternalData, type ExternalDataOptions } from './external-data.ts';
export * from './fused/index.ts';
export type { Provider } from './native-binding.ts';
export * from './optimizer/index.ts';
export {
  type EngineInfo,
  type EngineOptions,
  type EngineStats,
  engineStats,
  isEngineRunning,
  runPending,
  startEngine,
  stopEngine,
} from './start.ts';
