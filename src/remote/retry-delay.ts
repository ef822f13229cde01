const LONGEST_DELAY_MS = 60_000;

/** The wait that a server asks for, milliseconds: `retry-after-ms`, or Retry-After as seconds or as a date (RFC 9110, 10.2.3). */
export function retryAfterOf(headers: Headers | undefined, now: number = Date.now()): number | undefined {
  const milliseconds = headers?.get('retry-after-ms')?.trim();
  if (milliseconds && /^\d+(?:\.\d+)?$/.test(milliseconds)) return Number(milliseconds);
  const text = headers?.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return 1000 * Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * The wait before retry k = 0, 1, ...: between half of and the whole of first * 2^k, at most a minute. The random
 * half keeps many clients from coming back at one moment.
 */
export function backOff(retry: number, firstMs: number, random: () => number = Math.random): number {
  const whole = Math.min(LONGEST_DELAY_MS, firstMs * 2 ** retry);
  return whole * (0.5 + 0.5 * random());
}
