export {
  hashOfSet,
  JUDGEMENTS_FILE,
  JUDGING_FILE,
  type Judgement,
  type JudgingIdentity,
} from './journal.ts';
export * from './judge.ts';
export * from './reply.ts';
export * from './self-preference.ts';
export * from './summarize.ts';
export * from './table.ts';
export type { DescriptionSet, JudgeMode } from './tasks.ts';
