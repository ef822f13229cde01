export * from './adaptive-coefficient.ts';
export * from './entropy-clip.ts';
export * from './top-entropy.ts';
