export { sumsAlong } from './continuations.ts';
export { digitDistributions, scoreDistribution } from './digits.ts';
export { type DirectMode, directResults } from './direct.ts';
export type { Distribution } from './distribution.ts';
export { goodPoorScore, levelDistribution } from './levels.ts';
export { meanOfSamples } from './samples.ts';
export { LEVEL_WORDING, textUpToLevel } from './stems.ts';
