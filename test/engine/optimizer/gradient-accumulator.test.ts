import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError, Rng } from '../../../src/core/index.ts';
import { GradientAccumulator, startEngine, stopEngine, tf } from '../../../src/engine/index.ts';

beforeAll(async () => {
  await startEngine({ backend: 'cpu' });
});
afterAll(stopEngine);

const gradients = (...values: number[]) => new Map([['w', tf.tensor1d(values)]]);

describe('GradientAccumulator', () => {
  it('makes 4 micro-batches equal one batch', () => {
    const rng = new Rng('accumulate');
    const rows = 8;
    const x = Array.from({ length: rows }, () => [rng.normal(), rng.normal(), rng.normal()]);
    const y = Array.from({ length: rows }, () => rng.normal());
    const w = tf.variable(tf.tensor1d([0.5, -1, 2]));
    /** Gradient of the summed squared error of some rows over the global row count. */
    const gradient = (from: number, to: number) =>
      tf.variableGrads(() => {
        const error = tf
          .tensor2d(x.slice(from, to))
          .mul(w)
          .sum(1)
          .sub(tf.tensor1d(y.slice(from, to)));
        return tf.sum(tf.square(error)).div(rows) as tf.Scalar;
      }, [w]).grads[w.name]!;

    const accumulator = new GradientAccumulator();
    for (let from = 0; from < rows; from += 2) {
      tf.tidy(() => accumulator.add(new Map([['w', gradient(from, from + 2)]])));
    }
    expect(accumulator.count).toBe(4);
    const sum = [...accumulator.take().get('w')!.dataSync()];
    // By hand: 2/n * sum over rows of (x.w - y) x.
    const exact = [0, 1, 2].map(
      (k) =>
        (2 / rows) *
        x.reduce((total, row, i) => total + (row[0]! * 0.5 - row[1]! + row[2]! * 2 - y[i]!) * row[k]!, 0),
    );
    const whole = [...gradient(0, rows).dataSync()];
    sum.forEach((value, k) => {
      expect(Math.abs(value - whole[k]!)).toBeLessThan(1e-6);
      expect(Math.abs(value - exact[k]!)).toBeLessThan(1e-5);
    });
  });

  it('starts anew after take, and leaves no tensor behind', () => {
    const before = tf.memory().numTensors;
    const accumulator = new GradientAccumulator();
    tf.tidy(() => accumulator.add(gradients(1, 2)));
    tf.tidy(() => accumulator.add(gradients(10, 20)));
    const first = accumulator.take().get('w')!;
    expect([...first.dataSync()]).toEqual([11, 22]);
    first.dispose();
    tf.tidy(() => accumulator.add(gradients(5, 6)));
    const second = accumulator.take().get('w')!;
    expect([...second.dataSync()]).toEqual([5, 6]);
    second.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('frees its sums on dispose', () => {
    const before = tf.memory().numTensors;
    const accumulator = new GradientAccumulator();
    tf.tidy(() => accumulator.add(gradients(1)));
    accumulator.dispose();
    expect(tf.memory().numTensors).toBe(before);
    expect(accumulator.count).toBe(0);
  });

  it('refuses micro-batches of different parameters', () => {
    const accumulator = new GradientAccumulator();
    tf.tidy(() => {
      accumulator.add(gradients(1));
      expect(() => accumulator.add(new Map([['b', tf.scalar(1)]]))).toThrow('missing [w], unknown [b]');
    });
    accumulator.dispose();
  });

  it('refuses to take nothing', () => {
    expect(() => new GradientAccumulator().take()).toThrow(EngineError);
  });
});
