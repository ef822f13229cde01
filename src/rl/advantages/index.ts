export type {
  AdvantageCounts,
  GroupAdvantages,
  GroupStatistics,
  SingletonPolicy,
} from './compared-groups.ts';
export * from './estimate.ts';
export * from './gae.ts';
export * from './gdpo.ts';
export { type AdvantageScale, type GrpoAdvantageOptions, grpoAdvantages } from './grpo.ts';
export * from './maxrl.ts';
export * from './opo.ts';
export * from './pass-at-k.ts';
export * from './reinforce-plus-plus.ts';
export * from './remax.ts';
export * from './returns.ts';
export * from './rloo.ts';
export * from './trajectory.ts';
export * from './whiten.ts';
