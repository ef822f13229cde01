import { RemoteError, type RemoteReason } from '../../core/index.ts';
import { type ChoiceRules, readChoice } from './read-choice.ts';
import {
  type EngineCompletion,
  type EngineGroup,
  ROLLOUT_FAILURES,
  type RolloutFailure,
  type RolloutFailureReason,
} from './rollout-engine.ts';
import type { ServerChoice } from './server-protocol.ts';

/** A group of which nothing came. */
export const failedGroup = (count: number, failure: RolloutFailure): EngineGroup => ({
  completions: [],
  failures: new Array<RolloutFailure>(count).fill(failure),
});

/** The choices of a reply as a group of `count`: what cannot be used and what did not come are failures. */
export function readGroup(choices: readonly ServerChoice[], count: number, rules: ChoiceRules): EngineGroup {
  const group: EngineGroup = { completions: [], failures: [] };
  const isFailure = (one: EngineCompletion | RolloutFailure): one is RolloutFailure => 'reason' in one;
  for (const choice of choices.slice(0, count)) {
    const one = readChoice(choice, rules);
    if (isFailure(one)) group.failures.push(one);
    else group.completions.push(one);
  }
  for (let missing = choices.length; missing < count; missing++) {
    const message = `the server gave ${choices.length} answers instead of ${count}`;
    group.failures.push({ reason: 'missing-choice', message });
  }
  return group;
}

const REMOTE_REASONS: Partial<Record<RolloutFailureReason, RemoteReason>> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  server: 'server',
  refused: 'bad-request',
};

const HINTS: Partial<Record<RolloutFailureReason, string>> = {
  unreachable: 'is the server running, and baseUrl its address?',
  'missing-token-ids': 'the server must know return_token_ids: vLLM from 0.10.2 on',
  'missing-log-probabilities':
    'the server must return one for each token: vLLM from 0.10.2 on, SGLang from 0.5 on',
  'banned-token': 'the server passes over logit_bias: take a version that applies it',
  'stale-adapter': 'every run needs an adapterName of its own; is there a router before several servers?',
};

/** A step without a single completion is no step: the server, not the policy, has failed. */
export function requireSome(groups: EngineGroup[], address: string): EngineGroup[] {
  const failures = groups.flatMap((group) => group.failures);
  if (failures.length === 0 || groups.some(({ completions }) => completions.length > 0)) return groups;
  const of = (reason: RolloutFailureReason) => failures.filter((failure) => failure.reason === reason);
  const most = ROLLOUT_FAILURES.map(of).reduce((a, b) => (b.length > a.length ? b : a));
  const { reason, message } = most[0]!;
  throw new RemoteError(
    `${address}: none of ${failures.length} answers can be used, ${most.length} of them: ${reason}, ${message}`,
    {
      reason: REMOTE_REASONS[reason] ?? 'malformed',
      hint: HINTS[reason] ?? "look at the server's log",
    },
  );
}
