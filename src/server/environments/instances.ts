import { randomInt } from 'node:crypto';
import type { TextEnvironment, TextEnvironmentFamily, TextObservation } from '../../env/index.ts';
import { EnvironmentError } from './environment-error.ts';

/** Where an episode stands. */
export interface EpisodeState extends TextObservation {
  /** Sum of the rewards so far. */
  score: number;
}

/** One client's world. */
export class Instance {
  readonly id: number;
  readonly #environment: TextEnvironment;
  #state: EpisodeState | null = null;
  #opening = '';

  constructor(id: number, environment: TextEnvironment) {
    this.id = id;
    this.#environment = environment;
  }

  /** null before the first reset. */
  get state(): EpisodeState | null {
    return this.#state;
  }

  /** The first observation of the episode. NOT_BEGUN before the first reset. */
  get opening(): string {
    this.begun();
    return this.#opening;
  }

  /** NOT_BEGUN before the first reset. */
  begun(): EpisodeState {
    if (this.#state !== null) return this.#state;
    throw new EnvironmentError('NOT_BEGUN', `The environment ${this.id} was not reset yet.`);
  }

  async reset(task: number, seed?: number): Promise<EpisodeState> {
    const observation = await this.#environment.reset(task, seed);
    this.#opening = observation.text;
    this.#state = { ...observation, score: observation.reward };
    return this.#state;
  }

  async step(action: string): Promise<EpisodeState> {
    const { score, done } = this.begun();
    if (done) throw new EnvironmentError('FINISHED', `The task with environment ${this.id} has finished.`);
    const observation = await this.#environment.step(action);
    this.#state = { ...observation, score: score + observation.reward };
    return this.#state;
  }

  availableActions(): Promise<string[] | null> {
    return this.#environment.availableActions();
  }

  close(): Promise<void> {
    return this.#environment.close();
  }
}

interface Held {
  instance: Instance;
  usedAt: number;
  /** Requests that are not answered yet. */
  pending: number;
  /** Ends when all requests so far have. */
  tail: Promise<unknown>;
}

export interface InstanceTableOptions {
  family: Pick<TextEnvironmentFamily, 'create'>;
  /** Instances open at once. */
  most: number;
  idleMs: number;
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
}

/**
 * The instances that are open, by id. Requests for one id are carried out one after the other, in the order in which
 * they came; different ids do not wait for each other. Ids begin at a random place, so that a client that outlived a
 * restart of the server does not come upon the instance of another.
 */
export class InstanceTable {
  readonly #family: InstanceTableOptions['family'];
  readonly #most: number;
  readonly #idleMs: number;
  readonly #now: () => number;
  readonly #held = new Map<number, Held>();
  #nextId = randomInt(2 ** 31) * 2 ** 16;

  constructor({ family, most, idleMs, now = () => performance.now() }: InstanceTableOptions) {
    this.#family = family;
    this.#most = most;
    this.#idleMs = idleMs;
    this.#now = now;
  }

  get size(): number {
    return this.#held.size;
  }

  /** TOO_MANY_INSTANCES where no more may be open. */
  create(): Instance {
    if (this.#held.size >= this.#most) {
      const message = `all ${this.#most} instances of this server are open: close some, or raise its limit`;
      throw new EnvironmentError('TOO_MANY_INSTANCES', message, 1);
    }
    const instance = new Instance(this.#nextId++, this.#family.create());
    this.#held.set(instance.id, { instance, usedAt: this.#now(), pending: 0, tail: Promise.resolve() });
    return instance;
  }

  /** Carries out what a request asks of an instance, when those before it are done. UNKNOWN_ID for one that there is not. */
  async use<T>(id: number, run: (instance: Instance) => Promise<T>): Promise<T> {
    const held = this.#held.get(id);
    if (held === undefined) throw this.#unknown(id);
    held.pending++;
    const result = held.tail.then(() => {
      if (this.#held.get(id) !== held) throw this.#unknown(id);
      return run(held.instance);
    });
    held.tail = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      held.pending--;
      held.usedAt = this.#now();
    }
  }

  /** Closes an instance after the requests before this one. False where there is none. */
  async close(id: number): Promise<boolean> {
    const held = this.#held.get(id);
    if (held === undefined) return false;
    await held.tail;
    if (this.#held.get(id) !== held) return false;
    this.#held.delete(id);
    await held.instance.close();
    return true;
  }

  /** Closes those that nobody has asked anything of for too long. Returns how many. */
  async expire(): Promise<number> {
    const before = this.#now() - this.#idleMs;
    const old = [...this.#held].filter(([, { pending, usedAt }]) => pending === 0 && usedAt < before);
    const closed = await Promise.all(old.map(([id]) => this.close(id)));
    return closed.filter((one) => one).length;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((id) => this.close(id)));
  }

  #unknown(id: number): EnvironmentError {
    const why = 'it was not made here, is closed, or was idle for too long';
    return new EnvironmentError('UNKNOWN_ID', `The id ${id} is not valid: ${why}.`);
  }
}
