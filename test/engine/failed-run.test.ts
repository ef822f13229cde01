import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineError } from '../../src/core/index.ts';
import { engineStats, runPending, startEngine, stopEngine, tf } from '../../src/engine/index.ts';

beforeEach(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterEach(() => {
  tf.disposeVariables();
  stopEngine();
});

/** A row number that no check sees before the graph runs. */
const broken = (): tf.Tensor => tf.gather(tf.tensor1d([1, 2, 3]), tf.tensor1d([0, 7], 'int32'));

function thrownBy(action: () => unknown): EngineError {
  try {
    action();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a run that fails', () => {
  it('leaves later work alone', async () => {
    const bad = broken();
    const dependent = tf.neg(bad);
    await expect(runPending()).rejects.toThrow(EngineError);
    const later = tf.square(tf.tensor1d([3, 4]));
    await runPending();
    expect(later.dataSync()).toEqual(Float32Array.of(9, 16));
    expect(engineStats().pending).toBe(0);
    tf.dispose([bad, dependent]);
  });

  it('names the cause each time a tensor that could not be computed is read, without running again', async () => {
    const bad = broken();
    const dependent = tf.neg(bad);
    await expect(runPending()).rejects.toThrow(EngineError);
    for (const tensor of [bad, dependent]) {
      const error = thrownBy(() => tensor.dataSync());
      expect(error.message).toContain('out of data bounds');
      expect((error.cause as Error).message).toContain('out of data bounds');
      const { collectMs } = engineStats();
      expect(thrownBy(() => tensor.dataSync())).toBe(error);
      await expect(tensor.data()).rejects.toBe(error);
      expect(engineStats().collectMs).toBe(collectMs);
    }
  });

  it('fails whatever is computed from the tensor later', async () => {
    const bad = broken();
    await expect(runPending()).rejects.toThrow('out of data bounds');
    const dependent = tf.add(bad, 1);
    expect(thrownBy(() => dependent.dataSync()).message).toContain('out of data bounds');
  });

  it('does not keep back a tensor of the same run that does not depend on the fault', async () => {
    const shared = tf.exp(tf.tensor1d([0, 0]));
    const good = tf.add(shared, 1);
    const bad = tf.add(tf.gather(tf.tensor1d([1, 2]), tf.tensor1d([0, 9], 'int32')), shared);
    await expect(runPending()).rejects.toThrow(EngineError);
    expect(good.dataSync()).toEqual(Float32Array.of(2, 2));
    expect(shared.dataSync()).toEqual(Float32Array.of(1, 1));
    expect(() => bad.dataSync()).toThrow('out of data bounds');
  });

  it('does not hide a tensor that can be read behind one that cannot', () => {
    const bad = broken();
    const good = tf.neg(tf.tensor1d([1, 2]));
    expect(good.dataSync()).toEqual(Float32Array.of(-1, -2));
    expect(() => bad.dataSync()).toThrow('out of data bounds');
  });

  it('keeps what later results of a failed run are computed from', async () => {
    const x = tf.tensor1d([1, 2]);
    const [first, second] = tf.tidy(() => {
      const hidden = tf.exp(x);
      return [tf.neg(hidden), tf.square(hidden)];
    }) as [tf.Tensor, tf.Tensor];
    const bad = broken();
    await expect(runPending()).rejects.toThrow(EngineError);
    expect(first.dataSync()[0]).toBeCloseTo(-Math.E, 5);
    expect(second.dataSync()[1]).toBeCloseTo(Math.exp(4), 3);
    bad.dispose();
  });
});
