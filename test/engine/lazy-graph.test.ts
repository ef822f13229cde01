import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineStats, runPending, startEngine, stopEngine, tf } from '../../src/engine/index.ts';

beforeEach(async () => {
  await startEngine({ backend: 'onnx', threads: 2, cachedGraphs: 4 });
});
afterEach(() => {
  tf.disposeVariables();
  stopEngine();
});

describe('liveness', () => {
  it('computes nothing until asked', () => {
    tf.square(tf.tensor1d([1, 2, 3]));
    expect(engineStats()).toMatchObject({ runs: 0, pending: 1 });
  });

  it('makes live tensors the outputs, and disposed ones not', async () => {
    const kept = tf.tidy(() => {
      const x = tf.square(tf.tensor1d([1, 2, 3]));
      const dropped = tf.exp(x);
      return tf.sum(tf.add(x, dropped));
    });
    await runPending();
    expect(engineStats()).toMatchObject({ runs: 1, outputs: 1, pending: 0 });
    expect(kept.dataSync()[0]).toBeCloseTo(14 + Math.exp(1) + Math.exp(4) + Math.exp(9), 1);
    expect(engineStats().runs).toBe(1);
  });

  it('leaves out of the graph what no live tensor needs', async () => {
    const x = tf.tensor1d([1, 2, 3]);
    tf.tidy(() => void tf.exp(tf.exp(x)));
    const y = tf.neg(x);
    await runPending();
    expect(y.dataSync()).toEqual(Float32Array.of(-1, -2, -3));
    expect(engineStats()).toMatchObject({ nodes: 1, outputs: 1 });
  });

  it('computes a value shared by two tensors once', async () => {
    const x = tf.neg(tf.tensor1d([1, 2]));
    const copy = tf.clone(x);
    await runPending();
    expect(engineStats()).toMatchObject({ nodes: 1, outputs: 1 });
    expect(copy.dataSync()).toEqual(Float32Array.of(-1, -2));
  });

  it('reads synchronously and asynchronously alike', async () => {
    const x = tf.tensor1d([1, 2]);
    expect(tf.neg(x).dataSync()).toEqual(Float32Array.of(-1, -2));
    expect(await tf.neg(x).data()).toEqual(Float32Array.of(-1, -2));
  });

  it('does nothing when nothing is pending', async () => {
    await runPending();
    expect(engineStats().runs).toBe(0);
  });
});

describe('compiling', () => {
  const step = (w: tf.Variable, rate: number): void =>
    tf.tidy(() => {
      const { grads } = tf.variableGrads(() => tf.sum(tf.square(tf.sub(w, 1))));
      w.assign(tf.sub(w, tf.mul(grads[w.name]!, rate)));
    });

  it('uses the first step again while the learning rate changes', async () => {
    const w = tf.variable(tf.tensor1d([3, 5]));
    let expected = [3, 5];
    for (const rate of [0.25, 0.125, 0.0625, 0.3]) {
      step(w, rate);
      await runPending();
      expected = expected.map((value) => value - rate * 2 * (value - 1));
    }
    const got = w.dataSync();
    expected.forEach((value, i) => {
      expect(got[i]).toBeCloseTo(value, 5);
    });
    expect(engineStats()).toMatchObject({ runs: 4, compiles: 1, sessions: 1 });
  });

  it('compiles anew for another shape, and keeps the old graph', async () => {
    for (const length of [2, 3, 2, 3]) tf.tidy(() => tf.neg(tf.ones([length])).dataSync());
    expect(engineStats()).toMatchObject({ runs: 4, compiles: 2, sessions: 2 });
  });

  it('releases the graph used longest ago when there is no room', async () => {
    const use = (length: number): void => tf.tidy(() => void tf.neg(tf.ones([length])).dataSync());
    for (const length of [1, 2, 3, 4]) use(length + 1);
    use(2);
    use(9);
    expect(engineStats()).toMatchObject({ compiles: 5, sessions: 4, evictions: 1 });
    use(2);
    expect(engineStats().compiles).toBe(5);
    use(3);
    expect(engineStats()).toMatchObject({ compiles: 6, evictions: 2 });
  });

  it('keeps the number of tensors from step to step', async () => {
    const w = tf.variable(tf.tensor1d([3, 5]));
    const optimizer = tf.train.adam(0.1);
    const counts: number[] = [];
    for (let i = 0; i < 5; i++) {
      tf.tidy(() => {
        optimizer.minimize(() => tf.sum(tf.square(w)) as tf.Scalar);
      });
      await runPending();
      counts.push(tf.memory().numTensors);
    }
    expect(new Set(counts).size).toBe(1);
    optimizer.dispose();
  });
});

describe('choosing', () => {
  it('expands no operand that is broadcast anyway', () => {
    const x = tf.tensor2d([1, 2, 3, 4], [2, 2]);
    const chosen = tf.tidy(() => tf.where(tf.less(tf.sum(x), 11), x, tf.zerosLike(x)));
    expect(chosen.dataSync()).toEqual(Float32Array.of(1, 2, 3, 4));
    // The sum, the comparison, its reshaping to rank 2, and the choice.
    expect(engineStats().nodes).toBe(4);
  });

  it('expands operands that only together have the shape of the result', () => {
    const column = tf.tensor2d([1, 2], [2, 1]);
    const row = tf.tensor2d([3, 4, 5], [1, 3]);
    const condition = tf.less(tf.add(column, row), 6);
    expect(Array.from(tf.where(condition, column, row).dataSync())).toEqual([1, 1, 5, 2, 4, 5]);
    const all = tf.where(tf.scalar(true), tf.scalar(7), tf.zeros([2, 2]));
    expect(Array.from(all.dataSync())).toEqual([7, 7, 7, 7]);
  });
});

describe('constants', () => {
  it('tells -0 from 0', () => {
    const x = tf.tensor1d([2, 3]);
    expect(tf.div(x, tf.scalar(0)).dataSync()).toEqual(Float32Array.of(Infinity, Infinity));
    expect(tf.div(x, tf.scalar(-0)).dataSync()).toEqual(Float32Array.of(-Infinity, -Infinity));
  });

  it('stay embedded, and keep their value, after one of them was read', async () => {
    const scaled = (): Float32Array =>
      tf.tidy(() => tf.add(tf.neg(tf.tensor1d([2, 3])), tf.scalar(1)).dataSync() as Float32Array);
    expect(scaled()).toEqual(Float32Array.of(-1, -2));
    const read = tf.scalar(1).dataSync();
    expect(read).toEqual(Float32Array.of(1));
    read[0] = 5;
    expect(scaled()).toEqual(Float32Array.of(-1, -2));
    expect(engineStats()).toMatchObject({ runs: 2, compiles: 1 });
    expect(tf.scalar(1).dataSync()).toEqual(Float32Array.of(1));
  });

  it('reads a filled tensor without running anything', () => {
    expect(tf.fill([3], 2.5).dataSync()).toEqual(Float32Array.of(2.5, 2.5, 2.5));
    expect(tf.zerosLike(tf.tensor1d([1, 2], 'int32')).dataSync()).toEqual(Int32Array.of(0, 0));
    expect(engineStats().runs).toBe(0);
  });

  it('uses a filled tensor again after a run', async () => {
    const zeros = tf.zerosLike(tf.tensor2d([1, 2], [1, 2]));
    const x = tf.tensor2d([1, 2, 3, 4], [2, 2]);
    const first = tf.concat([x, zeros]);
    await runPending();
    const second = tf.concat([zeros, x]);
    expect(second.dataSync()).toEqual(Float32Array.of(0, 0, 1, 2, 3, 4));
    expect(first.dataSync()).toEqual(Float32Array.of(1, 2, 3, 4, 0, 0));
  });
});
