import type { Context } from 'hono';
import { z } from 'zod';
import { EnvironmentError } from './environment-error.ts';

/** Numbers that JSON carries exactly. */
const whole = z.int().min(0);

/** TextCraft may be given recipes and a goal of one's own; null stands for none. */
export const createBody = z.object({ commands: z.string().nullish(), goal: z.string().nullish() });

export const idBody = <Id extends string>(idField: Id) =>
  z.object({ [idField]: whole } as Record<Id, typeof whole>);

export const stepBody = z.object({ action: z.string() });

/** `world_seed` is an addition of ours: AgentGym's numbers name a task, not a seed. */
export const resetBody = (taskField: string, defaultTask: number | null) =>
  z.object({
    [taskField]: defaultTask === null ? whole : whole.default(defaultTask),
    world_seed: z.int().optional(),
  });

/** The value as the schema reads it. BAD_REQUEST names the fields, never what they held. */
export function valid<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.map(String).join('.') || 'body'}: ${message}`);
  throw new EnvironmentError('BAD_REQUEST', `the request has problems: ${problems.join('; ')}`);
}

/** The body as JSON; an absent one is empty. */
export async function jsonBody({ req }: Context): Promise<unknown> {
  const text = await req.text();
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new EnvironmentError('BAD_REQUEST', 'the body is no JSON');
  }
}

/** The id in the query. */
export function idInQuery({ req }: Context, idField: string): number {
  const text = req.query(idField) ?? '';
  if (!/^\d{1,16}$/.test(text)) {
    throw new EnvironmentError('BAD_REQUEST', `the query has no ${idField}: a whole number is needed`);
  }
  return Number(text);
}
