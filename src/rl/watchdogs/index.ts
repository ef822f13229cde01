export * from './config.ts';
export * from './event.ts';
export type { StepMetrics } from './judge.ts';
export * from './repetition.ts';
export { type WatchdogState, watchdogStateSchema } from './state.ts';
export * from './watchdogs.ts';
