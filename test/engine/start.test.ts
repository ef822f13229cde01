import { availableParallelism } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EngineError } from '../../src/core/index.ts';
import {
  engineStats,
  isEngineRunning,
  runPending,
  startEngine,
  stopEngine,
  tf,
} from '../../src/engine/index.ts';
import { createSession, selfTest } from '../../src/engine/native-binding.ts';

afterEach(stopEngine);

describe('startEngine', () => {
  it('says what it started', async () => {
    expect(await startEngine({ threads: 2 })).toEqual({
      backend: 'onnx',
      provider: 'cpu',
      threads: 2,
      runtime: 'onnxruntime 1.30.0',
    });
    expect(tf.getBackend()).toBe('onnx');
  });

  it('may be called again with the same options, but not with others', async () => {
    const first = await startEngine({ threads: 2 });
    expect(await startEngine({ threads: 2 })).toBe(first);
    await expect(startEngine({ threads: 1 })).rejects.toThrow(/already runs/);
  });

  it('starts anew after a stop', async () => {
    await startEngine({ threads: 2 });
    stopEngine();
    await startEngine({ threads: 1 });
    expect(tf.add(1, 2).dataSync()).toEqual(Float32Array.of(3));
  });

  it('runs plain JavaScript on demand, where nothing is ever pending', async () => {
    expect(await startEngine({ backend: 'cpu' })).toMatchObject({ backend: 'cpu', provider: 'javascript' });
    await runPending();
    expect(engineStats()).toMatchObject({ runs: 0, pending: 0 });
  });

  it('explains that TensorFlow is not installed', async () => {
    for (const name of ['@tensorflow/tfjs-node-gpu', '@tensorflow/tfjs-node'])
      vi.doMock(name, () => {
        throw new Error(`Cannot find package ${name}`);
      });
    await expect(startEngine({ backend: 'tensorflow' })).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringContaining('not installed'),
      hint: expect.stringContaining('npm i @tensorflow/tfjs-node'),
    });
  });

  it('knows whether it runs', async () => {
    expect(isEngineRunning()).toBe(false);
    await startEngine({ threads: 1 });
    expect(isEngineRunning()).toBe(true);
    stopEngine();
    expect(isEngineRunning()).toBe(false);
  });

  it('refuses more than four threads for each core, and says how many it would take', async () => {
    const most = 4 * availableParallelism();
    await expect(startEngine({ threads: most + 1 })).rejects.toThrow(`from 1 to ${most}, got ${most + 1}`);
  });

  it.each([0, -1, 1.5, Number.NaN, 100_000])('refuses %d threads', async (threads) => {
    await expect(startEngine({ threads })).rejects.toThrow(EngineError);
  });
});

describe('kernels without ONNX form', () => {
  it('run in plain JavaScript, counted, with one warning each', async () => {
    const warnings: string[] = [];
    await startEngine({ threads: 2, onWarning: (message) => warnings.push(message) });
    const x = tf.square(tf.tensor1d([1, 2, 3]));
    const once = tf.cumprod(x);
    const twice = tf.cumprod(tf.neg(once));
    expect(once.dataSync()).toEqual(Float32Array.of(1, 4, 36));
    expect(twice.dataSync()).toEqual(Float32Array.of(-1, 4, -144));
    expect(engineStats().delegated).toEqual({ Cumprod: 2 });
    expect(warnings).toEqual([
      'the kernel Cumprod has no ONNX form and runs in plain JavaScript, which is slow',
    ]);
  });

  it('leave no tensors behind', async () => {
    await startEngine({ threads: 2 });
    const x = tf.tensor1d([1, 2, 3]);
    const before = tf.memory();
    tf.tidy(() => void tf.cumprod(x).dataSync());
    expect(tf.memory()).toMatchObject({
      numTensors: before.numTensors,
      numDataBuffers: before.numDataBuffers,
    });
  });

  it('are named when they fail', async () => {
    await startEngine({ threads: 2 });
    expect(() => tf.complex([1], [2])).toThrow(/complex64|Complex/);
  });
});

describe('the native binding', () => {
  it('answers directly and rightly', () => {
    expect(() => selfTest({ provider: 'cpu', threads: 2 })).not.toThrow();
  });

  it('names the reason when a model cannot be compiled', () => {
    expect(() => createSession(Uint8Array.of(1, 2, 3), { provider: 'cpu', threads: 1 })).toThrow(EngineError);
  });

  it('turns a failing run into an EngineError', async () => {
    await startEngine({ threads: 2 });
    const outside = tf.gather(tf.tensor1d([1, 2]), tf.tensor1d([5], 'int32'));
    expect(() => outside.dataSync()).toThrow(EngineError);
  });
});
