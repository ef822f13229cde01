export * from './checkpoints.ts';
export * from './parquet.ts';
export * from './run-folder.ts';
export { takeRunLock } from './run-lock.ts';
export * from './safetensors.ts';
export * from './training-images.ts';
export * from './training-state.ts';
