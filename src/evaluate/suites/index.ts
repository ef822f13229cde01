export * from './plan.ts';
export type {
  EvaluatedModel,
  EvaluationProvenance,
  EvaluationResult,
  RunSuiteOptions,
} from './result.ts';
export * from './run-suite.ts';
export * from './suite.ts';
export * from './table.ts';
