export * from './iqa/index.ts';
