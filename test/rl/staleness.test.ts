import { describe, expect, it } from 'vitest';
import { CheckpointError, Rng } from '../../src/core/index.ts';
import { BoundedStalenessBuffer, stalenessConfigSchema } from '../../src/rl/index.ts';

/** A buffer with entries a, b, c, ... of these versions, added in this order under the last version. */
function bufferOf(versions: readonly number[], settings: object = {}): BoundedStalenessBuffer<string> {
  const buffer = new BoundedStalenessBuffer<string>(stalenessConfigSchema.parse(settings));
  const current = Math.max(...versions);
  versions.forEach((version, i) => {
    const id = String.fromCharCode(97 + i);
    buffer.add({ id, version, item: id.toUpperCase() }, current);
  });
  return buffer;
}

const ids = (buffer: BoundedStalenessBuffer<string>) => buffer.state().entries.map(({ id }) => id);

describe('BoundedStalenessBuffer', () => {
  it('holds data up to the bound and not beyond', () => {
    const buffer = bufferOf([1, 2, 3], { maxStaleness: 2 });
    expect(ids(buffer)).toEqual(['a', 'b', 'c']);
    expect(buffer.expire(4)).toEqual(['a']);
    expect(buffer.expire(9)).toEqual(['b', 'c']);
    expect(buffer.counts).toEqual({ admitted: 3, refused: 0, expired: 3, displaced: 0, used: 0 });
  });

  it('refuses data that are too stale on arrival', () => {
    const buffer = bufferOf([0, 3], { maxStaleness: 2 });
    expect(ids(buffer)).toEqual(['b']);
    expect(buffer.counts.refused).toBe(1);
  });

  it('takes nothing but the present version with a bound of 0', () => {
    const buffer = bufferOf([3, 4], { maxStaleness: 0 });
    expect(ids(buffer)).toEqual(['b']);
    expect(buffer.draw(5, { current: 5, rng: new Rng(1) })).toEqual([]);
  });

  it('gives up the stalest entry when full, of equals the first', () => {
    expect(ids(bufferOf([2, 1, 1, 2], { capacity: 3 }))).toEqual(['a', 'c', 'd']);
    const buffer = bufferOf([2, 2], { capacity: 2 });
    expect(buffer.add({ id: 'old', version: 1, item: '' }, 2)).toBe(false);
    expect(ids(buffer)).toEqual(['a', 'b']);
    expect(buffer.counts.displaced).toBe(1);
  });

  it('never draws an entry that became too stale', () => {
    const buffer = bufferOf([1, 2, 3], { maxStaleness: 2 });
    const drawn = buffer.draw(3, { current: 5, rng: new Rng(1) });
    expect(drawn).toEqual([{ id: 'c', version: 3, staleness: 2, item: 'C' }]);
    expect(buffer.counts.expired).toBe(2);
  });

  it('draws each entry equally often', () => {
    const buffer = bufferOf([4, 4, 4, 4], { maxUses: null });
    const rng = new Rng('draws');
    const counts: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
    for (let i = 0; i < 2000; i++) {
      const pair = buffer.draw(2, { current: 4, rng }).map(({ id }) => id);
      expect(new Set(pair).size).toBe(2);
      for (const id of pair) counts[id] = (counts[id] as number) + 1;
    }
    // Each is in half of the pairs: 1000 +- 4 * sqrt(2000 / 4).
    for (const count of Object.values(counts)) expect(Math.abs(count - 1000)).toBeLessThan(90);
  });

  it('lets an entry go when it was used as often as allowed', () => {
    const buffer = bufferOf([1, 1], { maxUses: 2 });
    const draw = (count: number) => buffer.draw(count, { current: 1, rng: new Rng(7) }).length;
    expect([draw(2), draw(2), draw(2)]).toEqual([2, 2, 0]);
    expect(buffer.counts.used).toBe(2);
  });

  it('draws fewer than wanted where there are fewer, none from an empty buffer', () => {
    const empty = new BoundedStalenessBuffer<string>(stalenessConfigSchema.parse({}));
    expect(empty.draw(3, { current: 0, rng: new Rng(1) })).toEqual([]);
    expect(bufferOf([1]).draw(3, { current: 1, rng: new Rng(1) })).toHaveLength(1);
    expect(bufferOf([1]).draw(0, { current: 1, rng: new Rng(1) })).toEqual([]);
  });

  it('continues from its state as if undisturbed', () => {
    const buffer = bufferOf([1, 2, 3, 3, 2], { maxUses: 3 });
    buffer.draw(2, { current: 3, rng: new Rng(1) });
    const other = new BoundedStalenessBuffer<string>(stalenessConfigSchema.parse({ maxUses: 3 }));
    other.restore(JSON.parse(JSON.stringify(buffer.state())), (id) => id.toUpperCase());
    const draw = (one: BoundedStalenessBuffer<string>) =>
      Array.from({ length: 6 }, (_, k) => one.draw(2, { current: 4, rng: new Rng(k) }));
    expect(draw(other)).toEqual(draw(buffer));
    expect(other.state()).toEqual(buffer.state());
  });

  it('refuses a state whose content is lost', () => {
    const state = bufferOf([1]).state();
    const other = new BoundedStalenessBuffer<string>(stalenessConfigSchema.parse({}));
    expect(() => other.restore(state, () => undefined)).toThrow(CheckpointError);
  });

  it('refuses data from the future, and the same entry twice', () => {
    const buffer = bufferOf([1]);
    expect(() => buffer.add({ id: 'z', version: 2, item: '' }, 1)).toThrow(RangeError);
    expect(() => buffer.draw(1, { current: 0, rng: new Rng(1) })).toThrow(RangeError);
    expect(() => buffer.add({ id: 'a', version: 1, item: '' }, 1)).toThrow('there already');
  });
});
