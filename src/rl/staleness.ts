import { z } from 'zod';
import { CheckpointError, type Rng } from '../core/index.ts';

export const stalenessConfigSchema = z.strictObject({
  maxStaleness: z
    .int()
    .min(0)
    .default(4)
    .describe('policy versions that data may lie behind (SkyRL 4, prime-rl 8); 0 is on-policy'),
  capacity: z.int().positive().default(256).describe('entries held; the stalest make room'),
  maxUses: z
    .int()
    .positive()
    .nullable()
    .default(1)
    .describe('draws of an entry before it goes; null: until it is too stale'),
});
export type StalenessConfig = z.infer<typeof stalenessConfigSchema>;

/** What a checkpoint keeps of an entry; its content is stored elsewhere under the same id. */
export interface BufferedEntry {
  id: string;
  /** Policy version that sampled it, the oldest where several did. */
  version: number;
  /** Draws so far. */
  uses: number;
}

/** Over the life of the buffer; each entry that left or never came in is in exactly one of the last four. */
export interface BufferCounts {
  admitted: number;
  /** Too stale on arrival. */
  refused: number;
  /** Became too stale. */
  expired: number;
  /** Made room for others. */
  displaced: number;
  /** Drawn as often as allowed. */
  used: number;
}

export interface BufferState {
  entries: BufferedEntry[];
  counts: BufferCounts;
}

/**
 * Rollouts for replay, none older than a bound: an entry of version v may be drawn under version c while
 * c - v <= maxStaleness. The bound on the versions is that of AReaL (arXiv 2505.24298, section 5.1, eta), applied to
 * stored data instead of to requests (reconstruction); what is within it still needs an importance correction.
 * An entry should be a whole group with its advantages: its members are comparable only with each other.
 */
export class BoundedStalenessBuffer<T> {
  readonly #config: StalenessConfig;
  #entries: (BufferedEntry & { item: T })[] = [];
  #counts: BufferCounts = { admitted: 0, refused: 0, expired: 0, displaced: 0, used: 0 };

  constructor(config: StalenessConfig) {
    this.#config = config;
  }

  get size(): number {
    return this.#entries.length;
  }

  get counts(): BufferCounts {
    return { ...this.#counts };
  }

  /**
   * Takes an entry in; false if it is too stale already. A full buffer gives up its stalest entry, of equals the
   * one that came first; that may be the new one.
   *
   * @param current version of the policy now
   */
  add({ id, version, item }: { id: string; version: number; item: T }, current: number): boolean {
    requireVersion(version, current);
    if (this.#entries.some((entry) => entry.id === id)) {
      throw new RangeError(`staleness buffer: entry ${id} is there already`);
    }
    this.expire(current);
    if (current - version > this.#config.maxStaleness) {
      this.#counts.refused++;
      return false;
    }
    this.#entries.push({ id, version, uses: 0, item });
    this.#counts.admitted++;
    if (this.#entries.length > this.#config.capacity) {
      const oldest = Math.min(...this.#entries.map((entry) => entry.version));
      this.#entries.splice(
        this.#entries.findIndex((entry) => entry.version === oldest),
        1,
      );
      this.#counts.displaced++;
    }
    return this.#entries.some((entry) => entry.id === id);
  }

  /** Drops what is too stale under this version; returns the ids, so that their content can be deleted. */
  expire(current: number): string[] {
    for (const { version } of this.#entries) requireVersion(version, current);
    const isTooStale = ({ version }: BufferedEntry) => current - version > this.#config.maxStaleness;
    const tooStale = this.#entries.filter(isTooStale);
    this.#entries = this.#entries.filter((entry) => !isTooStale(entry));
    this.#counts.expired += tooStale.length;
    return tooStale.map(({ id }) => id);
  }

  /**
   * Up to `count` different entries within the bound, every choice equally probable, in random order; fewer if there
   * are fewer, none from an empty buffer. The same entries, version and random stream give the same draw.
   */
  draw(
    count: number,
    { current, rng }: { current: number; rng: Rng },
  ): { id: string; version: number; staleness: number; item: T }[] {
    if (!Number.isInteger(count) || count < 0) {
      throw new RangeError(`staleness buffer: ${count} entries wanted, allowed is an integer >= 0`);
    }
    this.expire(current);
    const drawn = rng.shuffle(this.#entries).slice(0, count);
    for (const entry of drawn) entry.uses++;
    const { maxUses } = this.#config;
    const before = this.#entries.length;
    if (maxUses !== null) this.#entries = this.#entries.filter(({ uses }) => uses < maxUses);
    this.#counts.used += before - this.#entries.length;
    return drawn.map(({ id, version, item }) => ({ id, version, staleness: current - version, item }));
  }

  /** Plain data for a checkpoint, in the order of arrival, which later draws depend on. */
  state(): BufferState {
    return {
      entries: this.#entries.map(({ id, version, uses }) => ({ id, version, uses })),
      counts: this.counts,
    };
  }

  /** @param itemOf the stored content of an id; undefined where it is lost, which is a CheckpointError */
  restore(state: BufferState, itemOf: (id: string) => T | undefined): void {
    this.#entries = state.entries.map((entry) => {
      const item = itemOf(entry.id);
      if (item === undefined) {
        throw new CheckpointError(`staleness buffer: the content of entry ${entry.id} is not stored`, {
          hint: 'resume from an earlier checkpoint, or start with an empty buffer',
        });
      }
      return { ...entry, item };
    });
    this.#counts = { ...state.counts };
  }
}

function requireVersion(version: number, current: number): void {
  if (Number.isInteger(version) && Number.isInteger(current) && version >= 0 && version <= current) return;
  throw new RangeError(
    `staleness buffer: data of version ${version} under version ${current}, allowed are integers 0 to the current one`,
  );
}
