export * from './advantages.ts';
export * from './aggregation.ts';
export * from './divergence.ts';
export * from './groups.ts';
export * from './guards.ts';
export * from './policy-loss.ts';
export * from './schedule.ts';
