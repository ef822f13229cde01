/**
 * Every error a user can cause or meet has a class, a stable `code` and an exit code. Messages say what was
 * got, what is allowed and how to mend it. Anything that is not a QPonderError is a defect of ours.
 */

/** Stable codes, and the process exit code each leads to. Documented in docs/exit-codes.md. */
export const ERROR_CODES = {
  /** A command line or configuration that cannot be carried out. */
  CONFIG: 2,
  /** Input data that cannot be used: a broken image, a bad row, a missing column. */
  INPUT: 3,
  /** Reading or writing failed: full disk, missing permission, vanished file. */
  STORAGE: 4,
  /** A model folder or checkpoint that cannot be loaded. */
  CHECKPOINT: 5,
  /** The numeric engine refused: missing kernel, native library absent, wrong version. */
  ENGINE: 6,
  /** A training guard stopped the run (non-finite steps, too many failed rewards). */
  TRAINING: 7,
  /** A gate was not met (`score --min-score`). */
  GATE: 8,
  /** A remote model gave no usable answer: unreachable, refused, too slow, not understood, or the budget is spent. */
  REMOTE: 9,
  /** Interrupted by the user; state was saved. */
  INTERRUPTED: 130,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  /** How to mend it, one sentence. */
  hint?: string;
  cause?: unknown;
}

export class QPonderError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = details.hint;
  }

  get exitCode(): number {
    return ERROR_CODES[this.code];
  }
}

export class ConfigError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('CONFIG', message, details);
  }
}

export class InputError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('INPUT', message, details);
  }
}

export class StorageError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('STORAGE', message, details);
  }
}

export class CheckpointError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('CHECKPOINT', message, details);
  }
}

export class EngineError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('ENGINE', message, details);
  }
}

export class TrainingError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('TRAINING', message, details);
  }
}

export class GateError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('GATE', message, details);
  }
}

/** Why a remote model gave no answer. Stable names: they are counted in reports. */
export const REMOTE_REASONS = [
  /** No connection, or it broke. */
  'unreachable',
  /** No complete reply within the time allowed. */
  'timeout',
  /** HTTP 429: too many requests, or the account's quota is used up. */
  'rate-limit',
  /** HTTP 5xx, or an error that the server reports inside a reply. */
  'server',
  /** HTTP 401, 402 or 403. */
  'authentication',
  /** HTTP 404 or 3xx: no such address or model here. */
  'not-found',
  /** Another HTTP status of 4xx: the server does not accept the request. */
  'bad-request',
  /** The reply is not a chat completion: HTML, cut JSON, no choices. */
  'malformed',
  /** A chat completion without text. */
  'empty',
  /** The model or a content filter declined. */
  'refused',
  /** The caller's budget is spent; nothing was sent. */
  'budget',
] as const;
export type RemoteReason = (typeof REMOTE_REASONS)[number];

export class RemoteError extends QPonderError {
  readonly reason: RemoteReason;
  /** HTTP status, where there was one. */
  readonly status: number | undefined;

  constructor(
    message: string,
    details: ErrorDetails & { reason: RemoteReason; status?: number | undefined },
  ) {
    super('REMOTE', message, details);
    this.reason = details.reason;
    this.status = details.status;
  }
}

export class InterruptedError extends QPonderError {
  constructor(message: string, details?: ErrorDetails) {
    super('INTERRUPTED', message, details);
  }
}

/** Some names for a message: the first few, and how many more there are. */
export function listNames(names: readonly string[], most = 5): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

const STORAGE_CAUSES: Record<string, string> = {
  ENOSPC: 'the disk is full: free some space and run the same command again',
  EDQUOT: 'the disk quota is used up: free some space and run the same command again',
  EACCES: 'permission is missing: check the owner and mode of the folder',
  EPERM: 'the operation is not permitted: check the owner and mode of the folder',
  EROFS: 'the file system is read-only: choose another folder',
  ENOENT: 'no such file or folder: check the path',
  EEXIST: 'something of this name is in the way: choose another path, or move it away',
  ENOTDIR: 'a part of the path is a file, not a folder: check the path',
  EISDIR: 'this is a folder, a file was expected: check the path',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ENAMETOOLONG: 'the path is too long: choose a shorter one',
};

/** Turns a Node file system error into a StorageError with a remedy; other values pass through unchanged. */
export function asStorageError(error: unknown, action: string): unknown {
  if (error instanceof QPonderError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (typeof code !== 'string' || !/^E[A-Z0-9]+$/.test(code)) return error;
  return new StorageError(`${action} failed (${code})`, {
    hint: STORAGE_CAUSES[code] ?? 'check the path and the device',
    cause: error,
  });
}
