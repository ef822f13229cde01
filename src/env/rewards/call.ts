import type { RewardSample } from './types.ts';

/** A number that the range is still to be checked for, or what stands in its place. */
export type CallValue = number | { problem: string };

/** Why a call gave no values at all. */
export class CallFailure extends Error {
  readonly kind: 'timeout' | 'error';
  /** Another try may succeed. */
  readonly retryable: boolean;
  /** The other side does not answer: further calls would fail alike, and each takes long to do so. */
  readonly stalled: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: {
      kind?: 'timeout' | 'error';
      retryable?: boolean;
      stalled?: boolean;
      retryAfterMs?: number | undefined;
    } = {},
  ) {
    super(message);
    this.kind = details.kind ?? 'error';
    this.retryable = details.retryable ?? true;
    this.stalled = details.stalled ?? this.kind === 'timeout';
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** One kind of term: how a batch of completions is scored once. */
export interface Caller {
  /** Completions of a call. */
  readonly batchSize: number;
  /**
   * One value for each sample, within the term's deadline. Try k = 0, 1, ...
   *
   * @throws CallFailure
   */
  call(samples: readonly RewardSample[], attempt: number): Promise<readonly CallValue[]>;
  close(): Promise<void>;
}
