export * from './answer.ts';
export * from './config.ts';
export * from './errors.ts';
export * from './files.ts';
export * from './jsonl.ts';
export * from './printable.ts';
export * from './rng.ts';
export * from './spec.ts';
