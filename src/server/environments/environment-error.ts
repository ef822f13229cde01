/** What a client of the environments can be told: a stable code and its HTTP status. */
export const ENVIRONMENT_ERRORS = {
  /** The request cannot be understood: broken JSON, a missing field, a wrong type. FastAPI's status. */
  BAD_REQUEST: 422,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  /** No such instance: never made by this server, closed, or idle for too long. */
  UNKNOWN_ID: 404,
  /** The environment does not have this task. */
  UNKNOWN_TASK: 422,
  /** A step before a reset. */
  NOT_BEGUN: 409,
  /** A step after the end. */
  FINISHED: 409,
  TOO_LARGE: 413,
  /** The world itself failed. The instance is closed. */
  ENVIRONMENT: 500,
  INTERNAL: 500,
  TOO_MANY_INSTANCES: 503,
  STOPPING: 503,
} as const;
export type EnvironmentErrorCode = keyof typeof ENVIRONMENT_ERRORS;

export class EnvironmentError extends Error {
  readonly code: EnvironmentErrorCode;
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number | undefined;

  constructor(code: EnvironmentErrorCode, message: string, retryAfter?: number) {
    super(message);
    this.name = 'EnvironmentError';
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return ENVIRONMENT_ERRORS[this.code];
  }
}
