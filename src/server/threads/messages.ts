import { type ErrorCode, InputError, QPonderError } from '../../core/index.ts';

/** What the server tells a thread. A thread's work is opened by its `workerData`. */
export type ToThread =
  | { kind: 'task'; id: number; task: unknown }
  /** The task's signal aborts. It still answers, once. */
  | { kind: 'cancel'; id: number }
  /** No more tasks come; the thread ends when it has answered those it has. */
  | { kind: 'close' };

/** What a thread tells the server. */
export type FromThread =
  | { kind: 'ready'; info: unknown }
  | { kind: 'event'; id: number; event: unknown }
  | { kind: 'done'; id: number; value: unknown }
  | { kind: 'failed'; id: number; error: SentError }
  | { kind: 'unusable'; error: SentError };

/** An error as it crosses threads: classes and their fields do not. */
export interface SentError {
  /** Null for a defect of ours. */
  code: ErrorCode | null;
  name: string;
  message: string;
  hint: string | null;
  stack: string;
}

export function sentError(error: unknown): SentError {
  const known = error instanceof QPonderError;
  const isError = error instanceof Error;
  return {
    code: known ? error.code : null,
    name: isError ? error.name : typeof error,
    message: isError ? error.message : String(error),
    hint: known ? (error.hint ?? null) : null,
    stack: (isError ? error.stack : undefined) ?? '',
  };
}

export function receivedError({ code, name, message, hint, stack }: SentError): Error {
  const details = hint === null ? {} : { hint };
  if (code === 'INPUT') return new InputError(message, details);
  if (code !== null) return new QPonderError(code, message, details);
  const error = new Error(message);
  error.name = name;
  error.stack = stack;
  return error;
}
