import type { z } from 'zod';
import type { TextObservation } from '../../environment.ts';

/** Environments of AgentGym that the client speaks to. */
export const AGENTGYM_NAMES = [
  'textcraft',
  'babyai',
  'sciworld',
  'searchqa',
  'webarena',
  'alfworld',
  'webshop',
  'sqlgym',
  'maze',
  'wordle',
] as const;
export type AgentGymName = (typeof AGENTGYM_NAMES)[number];

export type JsonObject = Readonly<Record<string, unknown>>;

/** What a reset says: the first observation, or nothing where it is asked for with a second request. */
export interface Opening {
  text: string | null;
}

/** A GET besides the steps: its path, and how its reply is read. */
export interface Question<T> {
  readonly path: string;
  readonly reply: z.ZodType<T>;
}

/**
 * How one environment's server is spoken to. POST bodies are JSON and name the instance in `idField`; GETs name it in
 * the query.
 */
export interface AgentGymProtocol {
  /** Before every path: LMRL-Gym has two environments on one server. */
  readonly prefix: '' | '/maze' | '/wordle';
  readonly idField: 'id' | 'env_idx';
  /** `body` is null where none is sent. The reply holds the id of the instance. */
  readonly create: { readonly body: JsonObject | null; readonly reply: z.ZodType<number> };
  readonly reset: { body(task: number): JsonObject; readonly reply: z.ZodType<Opening> };
  /** Asked after each reset, where the reset does not say all that an agent must read. */
  readonly opening?: Question<string> & {
    /** The first observation, from the reset's own text and this one. */
    join(reset: string | null, asked: string): string;
  };
  readonly step: { action(action: string): string; readonly reply: z.ZodType<TextObservation> };
  /** Where the possible actions are found; null where the server does not list them. */
  readonly actions: Question<string[]> | { inText(observation: string): string[] | null } | null;
  /**
   * Whether the same actions lead to the same state on another instance. Where they do, a lost instance is replaced by
   * a fresh one that is brought to the same place; each observation on the way is compared with the one got before.
   */
  readonly replay: boolean;
  /** Tasks are 0 to this less one; null where the server's own data decide. */
  readonly tasks: number | null;
  /** Actions have brackets, quotes or tags that are part of them. */
  readonly keepMarks: boolean;
  /** Part of the tasks that a task belongs to. */
  group?(task: number): string;
}
