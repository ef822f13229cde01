export { rmsNorm } from './rms-norm.ts';
export { rotate } from './rotary.ts';
