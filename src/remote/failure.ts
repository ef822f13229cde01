import type { RemoteReason } from '../core/index.ts';

/** Why one try gave no answer. Internal: `ask` turns the last one into a RemoteError. */
export class Failure extends Error {
  readonly reason: RemoteReason;
  readonly status: number | undefined;
  /** Another try may succeed. */
  readonly retryable: boolean;
  /** What the server said, as it said it. */
  readonly said: string | undefined;
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The server is overloaded: send less. */
  readonly overload: boolean;

  constructor(
    reason: RemoteReason,
    what: string,
    details: {
      retryable: boolean;
      status?: number | undefined;
      said?: string | undefined;
      hint?: string | undefined;
      retryAfterMs?: number | undefined;
      overload?: boolean;
    },
  ) {
    super(what);
    this.reason = reason;
    this.status = details.status;
    this.retryable = details.retryable;
    this.said = details.said;
    this.hint = details.hint;
    this.retryAfterMs = details.retryAfterMs;
    this.overload = details.overload ?? false;
  }
}

interface StatusRule {
  reason: RemoteReason;
  what: string;
  retryable: boolean;
  hint: string;
  overload?: boolean;
}

const KEY_RULE = { reason: 'authentication', retryable: false } as const;
const STATUS_RULES: Record<number, StatusRule> = {
  401: {
    ...KEY_RULE,
    what: 'the key is missing or wrong',
    hint: 'check the key and that it belongs to this address',
  },
  402: { ...KEY_RULE, what: 'the account has no credit', hint: 'top the account up' },
  403: { ...KEY_RULE, what: 'the key may not use this', hint: 'check what the key is allowed to do' },
  404: {
    reason: 'not-found',
    what: 'no such address or model',
    retryable: false,
    hint: 'check the model name, and that the address ends where /chat/completions begins, usually in /v1',
  },
  413: {
    reason: 'bad-request',
    what: 'the request is too large',
    retryable: false,
    hint: 'send smaller pictures or fewer of them',
  },
};
const RETRYABLE_4XX = [408, 409, 425];

function ruleOf(status: number): StatusRule {
  const rule = STATUS_RULES[status];
  if (rule !== undefined) return rule;
  if (status < 400) {
    return {
      reason: 'not-found',
      what: 'the server sends elsewhere, which is not followed',
      retryable: false,
      hint: 'give the address that it moved to, often https in place of http',
    };
  }
  if (status === 429) {
    return {
      reason: 'rate-limit',
      what: 'too many requests',
      retryable: true,
      hint: 'lower the concurrency or set requests and tokens per minute to what the server allows',
      overload: true,
    };
  }
  if (status >= 500) {
    return {
      reason: 'server',
      what: 'the server failed',
      retryable: true,
      hint: "look at the server's log, or try again later",
      overload: true,
    };
  }
  return {
    reason: 'bad-request',
    what: 'the server does not accept the request',
    retryable: RETRYABLE_4XX.includes(status),
    hint: 'what the server said names the field; the model may not take pictures, several answers or logprobs',
  };
}

/** A failure by HTTP status. `code` is the server's own name for it, where it gives one. */
export function failureOfStatus(
  status: number,
  said: string | undefined,
  code: unknown,
  retryAfterMs?: number,
): Failure {
  if (code === 'insufficient_quota') {
    const hint = 'top the account up, or use another key';
    return new Failure('rate-limit', "the account's quota is used up", {
      retryable: false,
      status,
      said,
      hint,
    });
  }
  const { what, reason, ...rule } = ruleOf(status);
  return new Failure(reason, what, { ...rule, status, said, retryAfterMs });
}

/** System and fetch codes that another try cannot change. */
const FINAL_CODES: Record<string, string> = {
  ENOTFOUND: 'the host name is unknown: check the address',
  ERR_INVALID_URL: 'check the address',
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is self-signed: add it with NODE_EXTRA_CA_CERTS",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is self-signed: add it with NODE_EXTRA_CA_CERTS",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate is not trusted: add it with NODE_EXTRA_CA_CERTS",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name",
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak https: try http',
};

const CONNECTION_CODES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there: is the server running, and is the port right?',
};

/** A failure below HTTP. The code of the innermost cause says most. */
export function failureOfConnection(error: unknown): Failure {
  let code: string | undefined;
  let message = '';
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const here = (at as NodeJS.ErrnoException).code;
    if (typeof here === 'string') code = here;
    message = at.message;
  }
  const hint = FINAL_CODES[code ?? ''] ?? CONNECTION_CODES[code ?? ''] ?? 'check the server and the network';
  return new Failure('unreachable', `no connection, or it broke (${code ?? message})`, {
    retryable: !((code ?? '') in FINAL_CODES),
    hint,
  });
}
