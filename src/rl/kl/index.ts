export * from './adaptive-coefficient.ts';
export { estimateKl, type KlEstimator, type KlGradient } from './estimators.ts';
export * from './reference.ts';
export * from './reward-penalty.ts';
