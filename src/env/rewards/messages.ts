import type { CallValue } from './call.ts';
import type { RewardSample } from './types.ts';

/** What goes to the process of a reward file, and what comes back. */
export type ToProcess =
  | { kind: 'load'; url: string }
  | { kind: 'score'; id: number; samples: readonly RewardSample[] };

export type FromProcess =
  | { kind: 'ready'; batchSize: number | null }
  | { kind: 'unusable'; problem: string }
  | { kind: 'done'; id: number; values: CallValue[] }
  | { kind: 'failed'; id: number; problem: string };
