import { QPonderError } from '../../core/index.ts';

/** Every error a client can get: its stable code and the HTTP status that goes with it. */
export const API_ERRORS = {
  /** The request cannot be understood: broken JSON, a missing field, a value out of range. */
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  /** More bytes, pixels or images than allowed. */
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  /** The request is well formed, its picture or text cannot be used. */
  INPUT: 422,
  /** Too many requests of this client in a minute. */
  RATE_LIMITED: 429,
  /** The queue is full. */
  OVERLOADED: 429,
  /** The client went away; nobody reads this answer. */
  CLIENT_CLOSED: 499,
  INTERNAL: 500,
  /** The worker that held the request ended; another one has taken its place. */
  WORKER_CRASHED: 503,
  /** No model is loaded yet, or the server is about to end. */
  UNAVAILABLE: 503,
  /** The time allowed for a request is up. */
  DEADLINE: 504,
} as const;
export type ApiErrorCode = keyof typeof API_ERRORS;

export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly hint: string | undefined;
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number | undefined;

  constructor(code: ApiErrorCode, message: string, details: { hint?: string; retryAfter?: number } = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.hint = details.hint;
    this.retryAfter = details.retryAfter;
  }

  get status(): number {
    return API_ERRORS[this.code];
  }
}

/** The body of every error reply. */
export interface ErrorBody {
  error: { code: ApiErrorCode; message: string; hint?: string };
}

export const errorBody = ({ code, message, hint }: ApiError): ErrorBody => ({
  error: { code, message, ...(hint === undefined ? {} : { hint }) },
});

/**
 * What a client is told of an error. Its own mistakes are named; of ours it learns only that there was one, since
 * messages of the engine and the file system name folders.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof QPonderError && (error.code === 'INPUT' || error.code === 'CONFIG')) {
    const details = error.hint === undefined ? {} : { hint: error.hint };
    if (error.code === 'CONFIG') return new ApiError('BAD_REQUEST', error.message, details);
    const tooLarge = /more than the \d+ (?:bytes|pixels)/.test(error.message);
    return new ApiError(tooLarge ? 'TOO_LARGE' : 'INPUT', error.message, details);
  }
  return new ApiError('INTERNAL', 'the server failed to carry out this request', {
    hint: 'try again; if it stays so, the server’s log names the request',
  });
}
