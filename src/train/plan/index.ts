export * from './devices.ts';
export * from './flops.ts';
export * from './memory.ts';
export * from './plan.config.ts';
export * from './plan.ts';
export * from './time.ts';
