import { InputError } from '../../core/index.ts';
import type { TextEnvironment, TextObservation } from './environment.ts';
import { EnvironmentFailure } from './failure.ts';

/** An episode under way in this process: the rules of a world alone, without the order of calls. */
export interface World {
  /** The observation after the reset. */
  readonly opening: string;
  act(action: string): TextObservation;
  availableActions(): string[] | null;
}

/** Throws InputError for a task that a family does not have. */
export function checkTask(family: string, tasks: number, task: number): void {
  if (Number.isInteger(task) && task >= 0 && task < tasks) return;
  throw new InputError(`${family} has no task ${task}`, { hint: `its tasks are 0 to ${tasks - 1}` });
}

/** An environment in this process. Each call of `begin` makes a world of its own: instances share nothing. */
export function worldEnvironment(
  family: string,
  tasks: number,
  begin: (task: number, seed: number | undefined) => World,
): TextEnvironment {
  let world: World | undefined;
  let state: 'new' | 'running' | 'done' | 'closed' = 'new';
  const running = (): World => {
    if (state === 'running' && world !== undefined) return world;
    const why = { new: 'it was not reset', done: 'the episode is over', closed: 'it is closed', running: '' };
    throw new EnvironmentFailure(family, `no step is possible: ${why[state]}`, {
      reason: 'state',
      hint: state === 'closed' ? 'create another' : 'reset it first',
    });
  };
  return {
    async reset(task, seed) {
      if (state === 'closed') running();
      checkTask(family, tasks, task);
      world = begin(task, seed);
      state = 'running';
      return { text: world.opening, reward: 0, done: false };
    },
    async step(action) {
      const observation = running().act(action);
      if (observation.done) state = 'done';
      return observation;
    },
    async availableActions() {
      return state === 'done' ? [] : running().availableActions();
    },
    async close() {
      state = 'closed';
      world = undefined;
    },
  };
}
