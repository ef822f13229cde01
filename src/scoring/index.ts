export * from './expected-score.ts';
export * from './read-completion.ts';
export * from './readings/index.ts';
export * from './result.ts';
export * from './score-images.ts';
export * from './scorer.ts';
