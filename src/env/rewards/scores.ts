import type { CallValue } from './call.ts';

/** What a value is, in few words: it may be large, or be a secret. */
export function nameOfValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  return typeof value === 'number' ? String(value) : `a ${typeof value}`;
}

/**
 * Reads the scores that somebody else's code gave for `expected` completions. A place that holds no finite number is
 * a problem of its own.
 *
 * @throws Error when it is no list of this length
 */
export function readScores(given: unknown, expected: number): CallValue[] {
  const list = given instanceof Float32Array || given instanceof Float64Array ? Array.from(given) : given;
  const wanted = `a list of ${expected} ${expected === 1 ? 'number' : 'numbers'} is needed`;
  if (!Array.isArray(list)) throw new Error(`got ${nameOfValue(list)}, ${wanted}`);
  if (list.length !== expected) throw new Error(`got a list of ${list.length}, ${wanted}`);
  return Array.from(list, (value: unknown) =>
    typeof value === 'number' && Number.isFinite(value)
      ? value
      : { problem: `the value is ${nameOfValue(value)}, a finite number is needed` },
  );
}
