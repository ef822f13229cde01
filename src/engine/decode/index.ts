export { cachedAttention, type KeyValueCache, type SharedPrefix } from './cached-attention.ts';
export { type LoopOptions, type LoopResult, type LoopStep, runLoop } from './loop.ts';
