import { setTimeout as wait } from 'node:timers/promises';
import { backOff, Failure } from '../../../../remote/index.ts';
import type { TextEnvironment, TextObservation } from '../../environment.ts';
import { EnvironmentFailure } from '../../failure.ts';
import { environmentFailure } from './failures.ts';
import { createInstance, type Instance, type ServerContext } from './instance.ts';

export interface RemoteContext extends ServerContext {
  environment: string;
  /** Fresh instances that are tried in the place of one that failed, for each reset and each step. */
  retries: number;
  firstDelayMs: number;
  /** Whether a fresh instance may be brought to where the lost one was. */
  replay: boolean;
  /** Instances that are not closed yet. */
  open: Set<Instance>;
  /** Closings under way that nobody waits for. */
  closing: Set<Promise<void>>;
}

interface Episode {
  task: number;
  seed: number | undefined;
  opening: TextObservation;
  steps: { action: string; observation: TextObservation }[];
}

const equal = (a: TextObservation, b: TextObservation): boolean =>
  a.text === b.text && a.reward === b.reward && a.done === b.done;

/** Whatever a server asks for with Retry-After. */
const LONGEST_PAUSE_MS = 60_000;

type State = 'new' | 'running' | 'done' | 'failed' | 'closed';

const REFUSALS: Readonly<Record<Exclude<State, 'running'>, string>> = {
  new: 'it was not reset',
  done: 'the episode is over',
  failed: 'the episode failed',
  closed: 'it is closed',
};

/**
 * An environment on a server. A request that failed is never sent to the same instance again, since nobody knows
 * whether it was carried out: the instance is given up, and a fresh one is reset, brought to the same place by the
 * actions so far, and asked. Where that is not possible, or fails as well, an EnvironmentFailure is thrown and the
 * episode is over, without a reward.
 */
export class RemoteEnvironment implements TextEnvironment {
  readonly #context: RemoteContext;
  #state: State = 'new';
  #instance: Instance | undefined;
  #episode: Episode | undefined;

  constructor(context: RemoteContext) {
    this.#context = context;
  }

  async reset(task: number, seed?: number): Promise<TextObservation> {
    if (this.#state === 'closed') throw this.#refusal('closed');
    this.#state = 'failed';
    this.#episode = undefined;
    const opening = await this.#persist(`beginning task ${task}`, this.#context.retries, async () => {
      const instance = await this.#ready();
      return instance.open(task, seed);
    });
    this.#episode = { task, seed, opening, steps: [] };
    this.#state = 'running';
    return opening;
  }

  async step(action: string): Promise<TextObservation> {
    const episode = this.#running();
    this.#state = 'failed';
    const doing = `step ${episode.steps.length + 1} of task ${episode.task}`;
    const observation = await this.#onInstance(doing, episode, (instance) => instance.step(action));
    episode.steps.push({ action, observation });
    this.#state = observation.done ? 'done' : 'running';
    return observation;
  }

  async availableActions(): Promise<string[] | null> {
    if (this.#state === 'done') return [];
    const episode = this.#running();
    const { actions } = this.#context.protocol;
    if (actions === null) return null;
    if ('inText' in actions)
      return actions.inText((episode.steps.at(-1)?.observation ?? episode.opening).text);
    this.#state = 'failed';
    const found = await this.#onInstance('asking for the actions', episode, (instance) =>
      instance.ask(actions),
    );
    this.#state = 'running';
    return found;
  }

  /** Never throws: what an episode came to is known by then, and a server that forgets is counted. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#episode = undefined;
    const closing = this.#giveUp();
    await closing;
  }

  #running(): Episode {
    if (this.#state === 'running' && this.#episode !== undefined) return this.#episode;
    throw this.#refusal(this.#state === 'running' ? 'new' : this.#state);
  }

  #refusal(state: Exclude<State, 'running'>): EnvironmentFailure {
    return new EnvironmentFailure(this.#context.environment, `no step is possible: ${REFUSALS[state]}`, {
      reason: 'state',
      hint: state === 'closed' ? 'create another' : 'reset it first',
    });
  }

  /** Asks the instance of the running episode, or a fresh one in the same place. */
  #onInstance<T>(doing: string, episode: Episode, ask: (instance: Instance) => Promise<T>): Promise<T> {
    const { replay, retries } = this.#context;
    return this.#persist(doing, replay ? retries : 0, async () =>
      ask(this.#instance ?? (await this.#replayed(episode))),
    );
  }

  /** Tries; after a failure gives the instance up and tries with a fresh one. */
  async #persist<T>(doing: string, retries: number, attempt: () => Promise<T>): Promise<T> {
    const { environment, counts, firstDelayMs, signal } = this.#context;
    for (let retry = 0; ; retry++) {
      try {
        return await attempt();
      } catch (error) {
        const closing = this.#giveUp();
        this.#context.closing.add(closing);
        void closing.finally(() => this.#context.closing.delete(closing));
        if (error instanceof Failure && error.retryable && retry < retries) {
          counts.freshInstances++;
          const asked = Math.min(error.retryAfterMs ?? 0, LONGEST_PAUSE_MS);
          const pause = Math.max(backOff(retry, firstDelayMs), asked);
          await this.#pause(pause, signal);
          continue;
        }
        const thrown = error instanceof Failure ? environmentFailure(environment, doing, error) : error;
        if (thrown instanceof EnvironmentFailure) counts.failures[thrown.reason]++;
        throw thrown;
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await wait(ms, undefined, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  async #ready(): Promise<Instance> {
    if (this.#instance !== undefined) return this.#instance;
    const instance = await createInstance(this.#context);
    this.#context.open.add(instance);
    this.#instance = instance;
    return instance;
  }

  /** A fresh instance after the actions so far. What it answers must be what was answered before. */
  async #replayed({ task, seed, opening, steps }: Episode): Promise<Instance> {
    const instance = await this.#ready();
    const check = (after: string, got: TextObservation, before: TextObservation): void => {
      if (equal(got, before)) return;
      const text = `a fresh instance does not repeat the episode: it answers ${after} otherwise than before`;
      throw new EnvironmentFailure(this.#context.environment, text, {
        reason: 'server',
        hint: 'this world is not the same for the same task and actions: set replay to false',
      });
    };
    check(`task ${task}`, await instance.open(task, seed), opening);
    for (const [i, { action, observation }] of steps.entries()) {
      this.#context.counts.replayedActions++;
      check(`action ${i + 1}`, await instance.step(action), observation);
    }
    return instance;
  }

  /** Closes the instance, if there is one, and forgets it. Never throws. */
  async #giveUp(): Promise<void> {
    const instance = this.#instance;
    this.#instance = undefined;
    if (instance === undefined) return;
    this.#context.open.delete(instance);
    await instance.close().catch(() => {
      this.#context.counts.closeFailures++;
    });
  }
}
