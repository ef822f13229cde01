import type { Failure } from '../../../../remote/index.ts';
import { quoter } from '../../../../remote/index.ts';
import { EnvironmentFailure, type EnvironmentReason } from '../../failure.ts';

const quote = quoter(null);

const HINTS: Readonly<Record<EnvironmentReason, string>> = {
  unreachable: 'check that the server runs and that address and port are right',
  timeout: 'allow more time, or run fewer episodes at once',
  server: "look at the server's log; what it said is quoted",
  malformed: 'check that this server is of this environment, and of a version that speaks its protocol',
  state: 'reset it first',
};

export function reasonOf({ reason }: Failure): EnvironmentReason {
  if (reason === 'unreachable' || reason === 'timeout' || reason === 'malformed') return reason;
  return 'server';
}

/** A failed request as the failure of its episode. @param doing what was asked of the server, for the message */
export function environmentFailure(environment: string, doing: string, failure: Failure): EnvironmentFailure {
  const { message, status, said } = failure;
  const reason = reasonOf(failure);
  const code = status === undefined || status === 200 ? '' : ` (HTTP ${status})`;
  const quoted = said === undefined || said === '' ? '' : `: "${quote(said)}"`;
  return new EnvironmentFailure(environment, `${doing}: ${message}${code}${quoted}`, {
    reason,
    hint: HINTS[reason],
    cause: failure,
  });
}
