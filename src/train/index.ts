export * from './base.config.ts';
export { type BaseResult, trainBase } from './base.ts';
export * from './cold-start.config.ts';
export { trainColdStart } from './cold-start.ts';
export { fitToProcessor } from './fit-picture.ts';
export * from './grpo.config.ts';
export { trainGrpo } from './grpo.ts';
export * from './plan/index.ts';
export * from './stage.ts';
