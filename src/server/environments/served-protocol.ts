import type { EpisodeState, Instance } from './instances.ts';

/** Protocols of AgentGym that the server speaks. */
export const SERVED_PROTOCOLS = ['textcraft', 'babyai', 'maze', 'wordle', 'searchqa', 'sqlgym'] as const;
export type ServedProtocolName = (typeof SERVED_PROTOCOLS)[number];

/** A world: a task of the family, and the seed where the number that a client sends names one. */
export interface TaskChoice {
  task: number;
  seed?: number;
}

/** Addresses and bodies of one protocol. Replies are JSON values. */
export interface ServedProtocol {
  readonly prefix: '' | '/maze' | '/wordle';
  readonly idField: 'id' | 'env_idx';
  /** The field of a reset that names the task, and its value where it is left out. */
  readonly taskField: string;
  readonly defaultTask: number | null;
  choose(number: number, tasks: number): TaskChoice;
  /** Whether an instance begins a task when it is made: the next one for each instance. */
  readonly beginsAtCreate: boolean;
  created(id: number, state: EpisodeState | null): unknown;
  opened(id: number, state: EpisodeState): unknown;
  stepped(state: EpisodeState): unknown;
  /** GETs about an instance besides /observation. */
  readonly questions: Readonly<Record<string, (instance: Instance) => Promise<unknown>>>;
  /** GETs that name no instance. */
  readonly actionsPath: string | null;
}
