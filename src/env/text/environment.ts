/** What an environment says after a reset or a step. */
export interface TextObservation {
  /** What the agent reads. */
  text: string;
  /** Of this step alone; 0 after a reset. The sum over an episode is its return, its last score the outcome. */
  reward: number;
  done: boolean;
}

/**
 * One episode's world, for one agent. Deterministic: the same task, seed and actions give the same observations.
 * Asynchronous, since it may be a server's. A failure of the environment itself (not of the agent) is thrown as an
 * EnvironmentFailure and is never an observation or a reward.
 */
export interface TextEnvironment {
  /** Begins a task anew. InputError for a task that there is not. */
  reset(task: number, seed?: number): Promise<TextObservation>;
  /** Does an action; one that is not understood or not possible is answered in words, and costs a step. */
  step(action: string): Promise<TextObservation>;
  /** Actions that are possible now, where the world can list them; null where it cannot. */
  availableActions(): Promise<string[] | null>;
  close(): Promise<void>;
}

/** Arguments of a function call, by parameter. */
export type ActionArguments = Readonly<Record<string, string | number>>;

/** A kind of action as a function that an agent may call, for the function-calling and code-as-action forms. */
export interface ActionFunction {
  readonly name: string;
  readonly description: string;
  /** All are required, in this order where a call is positional. */
  readonly parameters: readonly {
    readonly name: string;
    readonly type: 'string' | 'integer';
    readonly description: string;
  }[];
  /** The action that a call stands for. */
  toAction(args: ActionArguments): string;
  /** The arguments of the call that stands for an action; undefined where this function does not cover it. */
  fromAction(action: string): ActionArguments | undefined;
}

/** A kind of world: its tasks, and what an agent is told before it begins. */
export interface TextEnvironmentFamily {
  /** As AgentGym names it: "textcraft", "maze", "wordle", "babyai". */
  readonly name: string;
  /** Tasks are 0 to this less one. */
  readonly tasks: number;
  /** The rules, as the first message of a conversation. How a reply is written is added to them (conversation.ts). */
  readonly instructions: string;
  /** Actions as functions. Where it is left out, one function takes the whole action as its text (act in action-functions.ts). */
  readonly functions?: readonly ActionFunction[];
  /** Part of the tasks that a task belongs to, for evaluation by sub-task ("depth 2", "level 5"). */
  group(task: number): string;
  create(): TextEnvironment;
  /** Actions of an expert that solves the task; null where it has no solution. */
  expert(task: number, seed?: number): string[] | null;
  /** Why the expert does each of its actions, a sentence each: the thoughts of demonstrations. */
  reasons?(task: number, seed?: number): string[] | null;
}
