export * from './accuracy.ts';
export * from './consistency.ts';
export * from './normal-cdf.ts';
export * from './rank.ts';
export * from './rubric.ts';
