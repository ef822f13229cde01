import { type ErrorDetails, QPonderError } from '../../core/index.ts';

/** Why an environment gave no observation. Stable names: they are counted in reports. */
export const ENVIRONMENT_REASONS = [
  /** No connection to its server, or it broke. */
  'unreachable',
  /** No complete answer within the time allowed. */
  'timeout',
  /** The server reports an error: HTTP 4xx or 5xx, or HTTP 200 with an error in its body. */
  'server',
  /** An answer that is not what the protocol says: another version, HTML, a missing field. */
  'malformed',
  /** Asked for what its state does not allow: a step before a reset, after the end or after close. */
  'state',
] as const;
export type EnvironmentReason = (typeof ENVIRONMENT_REASONS)[number];

/**
 * An environment that failed, as against an agent that failed in it. Such an episode has no reward, not 0: it is
 * tried again on a fresh instance, or dropped and counted.
 */
export class EnvironmentFailure extends QPonderError {
  readonly reason: EnvironmentReason;
  /** The environment's name, as its family has it. */
  readonly environment: string;

  constructor(environment: string, message: string, details: ErrorDetails & { reason: EnvironmentReason }) {
    super('REMOTE', `environment ${environment}: ${message}`, details);
    this.reason = details.reason;
    this.environment = environment;
  }
}
