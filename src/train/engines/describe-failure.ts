import { RemoteError, type RemoteReason } from '../../core/index.ts';
import type { Failure } from '../../remote/index.ts';
import type { RolloutFailure, RolloutFailureReason } from './rollout-engine.ts';

const REASONS: Partial<Record<RemoteReason, RolloutFailureReason>> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  'rate-limit': 'server',
  server: 'server',
  malformed: 'malformed',
};

/** Turns what is left of a request after its last try into words, without the key that it was sent with. */
export interface FailureWords {
  /** One short line of what the server said. */
  quote(said: string): string;
  line(failure: Failure): string;
  rollout(failure: Failure): RolloutFailure;
  error(failure: Failure, more?: { doing?: string; hint?: string | undefined }): RemoteError;
}

export function failureWords(address: string, quote: (said: string) => string): FailureWords {
  const line = ({ message, status, said }: Failure): string => {
    const code = status === undefined ? '' : ` (HTTP ${status})`;
    const words = quote(said ?? '');
    return `${quote(message)}${code}${words === '' ? '' : `, the server said "${words}"`}`;
  };
  return {
    quote,
    line,
    rollout: (failure) => ({ reason: REASONS[failure.reason] ?? 'refused', message: line(failure) }),
    error: (failure, { doing = '', hint = failure.hint } = {}) =>
      new RemoteError(`${address}: ${doing}${line(failure)}`, {
        reason: failure.reason,
        status: failure.status,
        cause: failure,
        ...(hint === undefined ? {} : { hint }),
      }),
  };
}
