export { cachedAttention, type KeyValueCache } from './cached-attention.ts';
export { type LoopOptions, type LoopResult, type LoopStep, runLoop } from './loop.ts';
