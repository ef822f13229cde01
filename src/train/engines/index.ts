export * from './config.ts';
export * from './create-engine.ts';
export * from './rollout-engine.ts';
