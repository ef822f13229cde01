export * from './difficulty.ts';
export * from './difficulty-sampler.ts';
export * from './horizon.ts';
export * from './r3.ts';
export * from './resampling.ts';
