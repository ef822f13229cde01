import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import {
  cachedAttention,
  engineStats,
  runLoop,
  startEngine,
  stopEngine,
  tf,
} from '../../src/engine/index.ts';

beforeAll(async () => {
  await startEngine({ threads: 2 });
});
afterAll(stopEngine);

/** Fibonacci numbers below a limit, from (1, 1). */
function fibonacci(limit: number, maxIterations: number) {
  return tf.tidy(() => {
    const bound = tf.tensor1d([limit, limit], 'int32');
    const { state, emitted } = runLoop({
      state: [tf.tensor1d([1, 1], 'int32')],
      maxIterations,
      body: ([pair], iteration) => {
        const [a, b] = [tf.slice(pair!, [0], [1]), tf.slice(pair!, [1], [1])];
        const next = tf.concat([b, tf.add(a, b)]);
        return {
          state: [next],
          emitted: [next, iteration],
          proceed: tf.all(tf.less(next, bound)),
        };
      },
    });
    return {
      last: [...state[0]!.dataSync()],
      emitted: [...emitted[0]!.dataSync()],
      iterations: [...emitted[1]!.dataSync()],
      shape: emitted[0]!.shape,
    };
  });
}

describe('runLoop', () => {
  it('hands the state on and collects what each iteration emits', () => {
    const result = fibonacci(1000, 4);
    expect(result.emitted).toEqual([1, 2, 2, 3, 3, 5, 5, 8]);
    expect(result.shape).toEqual([4, 2]);
    expect(result.iterations).toEqual([0, 1, 2, 3]);
  });

  it('ends after the iteration that says so', () => {
    expect(fibonacci(10, 100).last).toEqual([8, 13]);
  });

  it('compiles once for other values from outside and other numbers of iterations', () => {
    fibonacci(20, 3);
    const { compiles } = engineStats();
    expect(fibonacci(50, 60).last).toEqual([34, 55]);
    expect(engineStats().compiles).toBe(compiles);
  });

  it('passes an unchanged state through and can emit it', () => {
    const kept = tf.tidy(() => {
      const { state, emitted } = runLoop({
        state: [tf.tensor1d([2, 5])],
        maxIterations: 2,
        body: ([x]) => ({ state: [x!], emitted: [x!], proceed: tf.greater(tf.sum(x!), tf.scalar(0)) }),
      });
      return [...state[0]!.dataSync(), ...emitted[0]!.dataSync()];
    });
    expect(kept).toEqual([2, 5, 2, 5, 2, 5]);
  });

  it('refuses a state that changes its shape on an axis not declared to grow', () => {
    const grow = () =>
      tf.tidy(() => {
        runLoop({
          state: [tf.tensor1d([2, 5])],
          maxIterations: 2,
          body: ([x]) => ({ state: [tf.concat([x!, x!])], emitted: [], proceed: tf.equal(1, 1) }),
        });
      });
    expect(grow).toThrow(/loop state 0 is float32 \[2\] and becomes float32 \[4\]/);
  });

  it('refuses to read a tensor inside the body, and works again afterwards', () => {
    const read = () =>
      tf.tidy(() => {
        runLoop({
          state: [tf.tensor1d([2, 5])],
          maxIterations: 1,
          body: ([x]) => ({ state: [tf.mul(x!, x!.dataSync()[0]!)], emitted: [], proceed: tf.equal(1, 1) }),
        });
      });
    expect(read).toThrow(/tracing/);
    expect(fibonacci(10, 100).last).toEqual([8, 13]);
  });

  it('refuses zero iterations', () => {
    expect(() => fibonacci(10, 0)).toThrow(/whole number of times from 1 on, got 0/);
  });

  it('leaves no tensors behind', () => {
    const before = tf.memory().numTensors;
    fibonacci(10, 5);
    expect(tf.memory().numTensors).toBe(before);
  });
});

const HEADS = 4;
const SHARED = 2;
const SIZE = 8;
const SLOTS = 5;

/** Softmax attention of one query row over some keys, by its definition, in double precision. */
function attendPlainly(query: number[], keys: number[][], values: number[][]): number[] {
  const scores = keys.map((key) => key.reduce((sum, x, i) => sum + x * query[i]!, 0) / Math.sqrt(SIZE));
  const top = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - top));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return query.map((_, i) => values.reduce((sum, value, s) => sum + (weights[s]! / total) * value[i]!, 0));
}

/** The vector of SIZE numbers at a place in [..., SIZE]. */
const vector = (data: ArrayLike<number>, index: number): number[] =>
  Array.from({ length: SIZE }, (_, i) => data[index * SIZE + i]!);

describe('cachedAttention', () => {
  // Three steps in a loop, so that the recent cache grows from nothing to three slots.
  it.each([
    ['a prompt of its own for each row', [3, 5, 1], 1],
    ['two rows for each prompt', [4, 2], 2],
  ])('equals attention by its definition: %s', (_, promptLengths, samples) => {
    const rng = new Rng(5);
    const steps = 3;
    const prefixes = promptLengths.length;
    const batch = prefixes * samples;
    const inputs = {
      q: normals(rng, steps * batch * HEADS * SIZE),
      k: normals(rng, steps * batch * SHARED * SIZE),
      v: normals(rng, steps * batch * SHARED * SIZE),
      keys: normals(rng, prefixes * SHARED * SLOTS * SIZE),
      values: normals(rng, prefixes * SHARED * SLOTS * SIZE),
    };
    const mask = promptLengths.flatMap((length) =>
      Array.from({ length: SLOTS }, (_, s) => (s < length ? 0 : -1e9)),
    );
    const [mixed, recentKeys] = tf.tidy(() => {
      const stack = (data: Float32Array, heads: number) => tf.tensor(data, [steps, batch * heads * SIZE]);
      const tables = { q: stack(inputs.q, HEADS), k: stack(inputs.k, SHARED), v: stack(inputs.v, SHARED) };
      const shape: [number, number, number, number] = [prefixes, SHARED, SLOTS, SIZE];
      const prefix = {
        keys: tf.tensor4d(inputs.keys, shape),
        values: tf.tensor4d(inputs.values, shape),
        mask: tf.tensor4d(mask, [prefixes, 1, 1, SLOTS]),
      };
      const { state, emitted } = runLoop({
        state: [tf.zeros([batch, SHARED, 0, SIZE]), tf.zeros([batch, SHARED, 0, SIZE])],
        growingAxes: [2, 2],
        maxIterations: steps,
        body: ([keys, values], iteration) => {
          const row = (table: tf.Tensor, heads: number): tf.Tensor4D =>
            tf.reshape(tf.gather(table, tf.reshape(iteration, [1])), [batch, heads, 1, SIZE]);
          const recent = { keys: keys as tf.Tensor4D, values: values as tf.Tensor4D };
          const [q, k, v] = [row(tables.q, HEADS), row(tables.k, SHARED), row(tables.v, SHARED)];
          const attended = cachedAttention(q, k, v, prefix, recent);
          return {
            state: [attended.recent.keys, attended.recent.values],
            emitted: [attended.mixed],
            proceed: tf.greaterEqual(iteration, 0),
          };
        },
      });
      expect(state[0]!.shape).toEqual([batch, SHARED, steps, SIZE]);
      return [emitted[0]!.dataSync(), state[0]!.dataSync()];
    });
    for (let step = 0; step < steps; step++)
      for (let b = 0; b < batch; b++)
        for (let head = 0; head < HEADS; head++) {
          const prompt = Math.floor(b / samples);
          const shared = Math.floor(head / (HEADS / SHARED));
          const seen = (cached: Float32Array, made: Float32Array): number[][] => [
            ...Array.from({ length: promptLengths[prompt]! }, (_, s) =>
              vector(cached, (prompt * SHARED + shared) * SLOTS + s),
            ),
            ...Array.from({ length: step + 1 }, (_, s) => vector(made, (s * batch + b) * SHARED + shared)),
          ];
          const at = (step * batch + b) * HEADS + head;
          const expected = attendPlainly(
            vector(inputs.q, at),
            seen(inputs.keys, inputs.k),
            seen(inputs.values, inputs.v),
          );
          vector(mixed!, at).forEach((x, i) => {
            expect(x).toBeCloseTo(expected[i]!, 5);
          });
          expect(vector(recentKeys!, (b * SHARED + shared) * steps + step)).toEqual(
            vector(inputs.k, (step * batch + b) * SHARED + shared),
          );
        }
  });

  const attendZeros = (rows: number, length: number, prompts: number) => () =>
    tf.tidy(() => {
      const q = tf.zeros([rows, HEADS, length, SIZE]) as tf.Tensor4D;
      const k = tf.zeros([rows, SHARED, length, SIZE]) as tf.Tensor4D;
      const cache = tf.zeros([prompts, SHARED, SLOTS, SIZE]) as tf.Tensor4D;
      const prefix = { keys: cache, values: cache, mask: tf.zeros([prompts, 1, 1, SLOTS]) as tf.Tensor4D };
      cachedAttention(q, k, k, prefix, { keys: k, values: k });
    });

  it('takes one new token per row only', () => {
    expect(attendZeros(1, 2, 1)).toThrow(/one new token per row, got 2/);
  });

  it('refuses prompts that do not divide the rows', () => {
    expect(attendZeros(4, 1, 3)).toThrow(/3 prefixes cannot serve 4 rows/);
  });
});

function normals(rng: Rng, count: number): Float32Array {
  return Float32Array.from({ length: count }, () => rng.normal());
}
