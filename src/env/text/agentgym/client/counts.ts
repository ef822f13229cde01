import { ENVIRONMENT_REASONS, type EnvironmentReason } from '../../failure.ts';

/** What a client has done, for the report of a run. */
export interface AgentGymCounts {
  requests: number;
  /** Instances that servers made, and those that were closed again. */
  created: number;
  closed: number;
  /** Closings that a server did not confirm: its own business, nothing of an episode hangs on them. */
  closeFailures: number;
  /** Times that a fresh instance took the place of one that failed, and the actions repeated on those. */
  freshInstances: number;
  replayedActions: number;
  /** Requests that failed, by reason; most of them were made good by a fresh instance. */
  failedRequests: Record<EnvironmentReason, number>;
  /** Failures that were thrown: each is an episode without a reward. */
  failures: Record<EnvironmentReason, number>;
}

const none = (): Record<EnvironmentReason, number> =>
  Object.fromEntries(ENVIRONMENT_REASONS.map((reason) => [reason, 0])) as Record<EnvironmentReason, number>;

export const newCounts = (): AgentGymCounts => ({
  requests: 0,
  created: 0,
  closed: 0,
  closeFailures: 0,
  freshInstances: 0,
  replayedActions: 0,
  failedRequests: none(),
  failures: none(),
});
