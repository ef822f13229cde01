import type { z } from 'zod';
import { ApiError } from './api-error.ts';

/** The value as the schema reads it. BAD_REQUEST names the fields, never what they held. */
export function valid<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 3)
    .map(
      ({ path, message }) =>
        `${path.map(String).join('.').slice(0, 80) || '(top)'}: ${message.slice(0, 160)}`,
    );
  throw new ApiError('BAD_REQUEST', `the request has problems: ${problems.join('; ')}`, {
    hint: '/docs shows every field',
  });
}
