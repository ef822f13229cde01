export * from './config.ts';
export * from './critic-loss.ts';
export * from './estimate-values.ts';
export * from './value-head.ts';
export * from './value-metrics.ts';
