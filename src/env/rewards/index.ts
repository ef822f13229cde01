export * from './config.ts';
export { addRewards, createRewardTerms, rewardFiles } from './terms.ts';
export * from './types.ts';
export * from './weight.ts';
