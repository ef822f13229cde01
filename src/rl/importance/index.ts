export * from './correction.ts';
export * from './off-policy-mask.ts';
