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
const SLOTS = 7;

/** Softmax attention of one query row over the first `keys` rows, by its definition, in double precision. */
function attendPlainly(query: number[], keys: number[][], values: number[][]): number[] {
  const scores = keys.map((key) => key.reduce((sum, x, i) => sum + x * query[i]!, 0) / Math.sqrt(SIZE));
  const top = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - top));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return query.map((_, i) => values.reduce((sum, value, s) => sum + (weights[s]! / total) * value[i]!, 0));
}

describe('cachedAttention', () => {
  const lengths = [3, 6, 1];
  const rng = new Rng(5);

  it('equals attention by its definition over rows of unequal length', () => {
    const batch = lengths.length;
    const inputs = {
      q: normals(rng, batch * HEADS * SIZE),
      k: normals(rng, batch * SHARED * SIZE),
      v: normals(rng, batch * SHARED * SIZE),
      keys: normals(rng, batch * SHARED * SLOTS * SIZE),
      values: normals(rng, batch * SHARED * SLOTS * SIZE),
    };
    const [mixed, keysAfter] = tf.tidy(() => {
      const attended = cachedAttention(
        tf.tensor4d(inputs.q, [batch, HEADS, 1, SIZE]),
        tf.tensor4d(inputs.k, [batch, SHARED, 1, SIZE]),
        tf.tensor4d(inputs.v, [batch, SHARED, 1, SIZE]),
        {
          keys: tf.tensor4d(inputs.keys, [batch, SHARED, SLOTS, SIZE]),
          values: tf.tensor4d(inputs.values, [batch, SHARED, SLOTS, SIZE]),
        },
        tf.tensor1d(lengths, 'int32'),
        tf.scalar(7, 'int32'),
      );
      return [[...attended.mixed.dataSync()], [...attended.cache.keys.dataSync()]];
    });
    const row = (data: Float32Array | number[], index: number) => [
      ...data.slice(index * SIZE, (index + 1) * SIZE),
    ];
    lengths.forEach((length, b) => {
      for (let head = 0; head < HEADS; head++) {
        const shared = b * SHARED + Math.floor(head / (HEADS / SHARED));
        const cached = (data: Float32Array) =>
          Array.from({ length }, (_, s) => row(data, shared * SLOTS + s));
        const expected = attendPlainly(
          row(inputs.q, b * HEADS + head),
          [...cached(inputs.keys), row(inputs.k, shared)],
          [...cached(inputs.values), row(inputs.v, shared)],
        );
        row(mixed!, b * HEADS + head).forEach((x, i) => {
          expect(x).toBeCloseTo(expected[i]!, 5);
        });
        expect(row(keysAfter!, shared * SLOTS + length)).toEqual(row(inputs.k, shared));
      }
    });
  });

  it('takes one new token per row only', () => {
    const tooMany = () =>
      tf.tidy(() => {
        const q = tf.zeros([1, HEADS, 2, SIZE]) as tf.Tensor4D;
        const k = tf.zeros([1, SHARED, 2, SIZE]) as tf.Tensor4D;
        cachedAttention(q, k, k, { keys: k, values: k }, tf.tensor1d([1], 'int32'), tf.scalar(2, 'int32'));
      });
    expect(tooMany).toThrow(/one new token per row, got 2/);
  });
});

function normals(rng: Rng, count: number): Float32Array {
  return Float32Array.from({ length: count }, () => rng.normal());
}
