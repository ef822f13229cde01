import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CheckpointError, Rng, StorageError } from '../../src/core/index.ts';
import { loadTrainingState, saveTrainingState } from '../../src/formats/training-state.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-state-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bitsOf = (values: Float32Array): number[] => [
  ...new Uint32Array(values.buffer, values.byteOffset, values.length),
];
const anyState = z.record(z.string(), z.unknown());

describe('training state', () => {
  it('brings arrays back to the bit, groups and names with it', async () => {
    const special = new Float32Array(
      // 0, -0, smallest subnormal, largest finite, +inf, -inf, quiet NaN, NaN with payload, 1/3
      new Uint32Array([
        0, 0x80000000, 1, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fc01234, 0x3eaaaaab,
      ]).buffer,
    );
    const rng = new Rng(1);
    const random = Float32Array.from({ length: 1000 }, () => rng.normal());
    await saveTrainingState(
      folder,
      {
        firstMoment: { 'model.layers.0.w/b': special, 'lm_head.weight': random },
        secondMoment: { 'lm_head.weight': new Float32Array(0) },
      },
      {},
    );
    const { tensors } = await loadTrainingState(folder, anyState);
    expect(Object.keys(tensors).sort()).toEqual(['firstMoment', 'secondMoment']);
    expect(Object.keys(tensors.firstMoment!).sort()).toEqual(['lm_head.weight', 'model.layers.0.w/b']);
    expect(bitsOf(tensors.firstMoment!['model.layers.0.w/b']!)).toEqual(bitsOf(special));
    expect(bitsOf(tensors.firstMoment!['lm_head.weight']!)).toEqual(bitsOf(random));
    expect(tensors.secondMoment!['lm_head.weight']).toHaveLength(0);
  });

  it('writes a part of a larger buffer, not the buffer', async () => {
    const whole = Float32Array.from([1, 2, 3, 4, 5]);
    await saveTrainingState(folder, { g: { part: whole.subarray(1, 3) } }, {});
    expect([...(await loadTrainingState(folder, anyState)).tensors.g!.part!]).toEqual([2, 3]);
  });

  it('brings numbers, texts and lists of the state back exactly', async () => {
    const state = {
      step: 100,
      tenth: 0.1 + 0.2,
      least: Number.MIN_VALUE,
      large: Number.MAX_SAFE_INTEGER,
      special: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0],
      cursor: { epoch: 3, order: [2, 0, 1], shard: null },
      text: 'é "quoted"\n',
      flags: [true, false],
    };
    await saveTrainingState(folder, {}, state);
    const loaded = (await loadTrainingState(folder, anyState)).state;
    expect(loaded).toEqual(state);
    // toEqual tells -0 from 0 in vitest; make it plain here.
    expect((loaded.special as number[]).map((value) => Object.is(value, -0))).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  it('continues a random stream as if it had not been stored', async () => {
    const rng = new Rng('train');
    rng.normal(); // leaves a spare normal in the state
    await saveTrainingState(folder, {}, { rng: rng.state() });
    const schema = z.object({
      rng: z.object({ words: z.array(z.int()), spareNormal: z.number().nullable() }),
    });
    const other = new Rng(0);
    other.restore((await loadTrainingState(folder, schema)).state.rng);
    const draws = (source: Rng) => Array.from({ length: 9 }, () => source.normal());
    expect(draws(other)).toEqual(draws(rng));
  });

  it('refuses a state of another shape with every problem', async () => {
    await saveTrainingState(folder, {}, { step: 'three', extra: 1 });
    const loading = loadTrainingState(folder, z.strictObject({ step: z.int() }));
    await expect(loading).rejects.toBeInstanceOf(CheckpointError);
    await expect(loading).rejects.toThrow(/step: .*; .*extra/);
  });

  it('refuses a state that is not JSON', async () => {
    await saveTrainingState(folder, {}, {});
    await writeFile(join(folder, 'training-state.json'), '{"step": 1');
    await expect(loadTrainingState(folder, anyState)).rejects.toBeInstanceOf(CheckpointError);
  });

  it('reports a missing state as a storage error', async () => {
    await expect(loadTrainingState(folder, anyState)).rejects.toBeInstanceOf(StorageError);
  });

  it.each(['', 'a/b'])('refuses the group name "%s"', async (group) => {
    await expect(saveTrainingState(folder, { [group]: { w: new Float32Array(1) } }, {})).rejects.toThrow(
      RangeError,
    );
  });
});
