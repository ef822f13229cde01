import type { Rng } from '../../src/core/index.ts';

/** Numbers at which readers of lengths and sizes go wrong. */
const EDGES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
/** Fields that decide are mostly here. */
const HEAD = 64;

type Mutation = (bytes: Buffer, rng: Rng, others: readonly Buffer[]) => Buffer;

const place = (bytes: Buffer, rng: Rng): number =>
  rng.integer(Math.max(1, rng.uniform() < 0.5 ? Math.min(HEAD, bytes.length) : bytes.length));

const changed = (bytes: Buffer, change: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) change(copy);
  return copy;
};

const MUTATIONS: readonly Mutation[] = [
  function flipBit(bytes, rng) {
    return changed(bytes, (copy) => {
      copy[place(copy, rng)]! ^= 1 << rng.integer(8);
    });
  },
  function setByte(bytes, rng) {
    return changed(bytes, (copy) => {
      copy[place(copy, rng)] = rng.integer(256);
    });
  },
  function setEdge(bytes, rng) {
    return changed(bytes, (copy) => {
      const value = EDGES[rng.integer(EDGES.length)]!;
      const width = rng.uniform() < 0.5 ? 2 : 4;
      const at = Math.min(place(copy, rng), copy.length - width);
      if (at < 0) return;
      const cut = width === 2 ? value & 0xffff : value;
      if (rng.uniform() < 0.5) copy.writeUIntBE(cut, at, width);
      else copy.writeUIntLE(cut, at, width);
    });
  },
  function truncate(bytes, rng) {
    return Buffer.from(bytes.subarray(0, place(bytes, rng)));
  },
  function remove(bytes, rng) {
    const at = place(bytes, rng);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + rng.integer(16))]);
  },
  function repeat(bytes, rng) {
    const at = place(bytes, rng);
    const part = bytes.subarray(at, at + 1 + rng.integer(64));
    return Buffer.concat([bytes.subarray(0, at), part, part, bytes.subarray(at)]);
  },
  function insert(bytes, rng) {
    const at = place(bytes, rng);
    const noise = Buffer.from(Array.from({ length: 1 + rng.integer(16) }, () => rng.integer(256)));
    return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
  },
  function blank(bytes, rng) {
    return changed(bytes, (copy) => {
      const at = place(copy, rng);
      const end = Math.min(copy.length, at + 1 + rng.integer(32));
      copy.fill(rng.uniform() < 0.5 ? 0 : 0xff, at, end);
    });
  },
  function splice(bytes, rng, others) {
    const other = others[rng.integer(others.length)]!;
    return Buffer.concat([bytes.subarray(0, place(bytes, rng)), other.subarray(place(other, rng))]);
  },
];

/** One to four mutations, one after another. */
export function mutate(seed: Buffer, rng: Rng, others: readonly Buffer[]): Buffer {
  let bytes = seed;
  for (let k = 1 + rng.integer(4); k > 0; k--) {
    bytes = MUTATIONS[rng.integer(MUTATIONS.length)]!(bytes, rng, others);
  }
  return bytes;
}
