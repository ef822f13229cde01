export * from './blind-scorer.ts';
export * from './open-blind.ts';
