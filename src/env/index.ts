export * from './iqa/index.ts';
export * from './rewards/index.ts';
export * from './text/index.ts';
