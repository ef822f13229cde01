import { afterAll, beforeAll, expect, it } from 'vitest';
import { currentBackend } from '../../src/engine/backend.ts';
import { runPending, startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { createSession, type Feeds } from '../../src/engine/native-binding.ts';
import { encodeGraph, encodeModel } from '../../src/engine/onnx-encode.ts';
import { nameTraced, traceGraph } from '../../src/engine/trace.ts';

beforeAll(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterAll(stopEngine);

it('turns a function into a graph that runs with other inputs and parameters', async () => {
  const weight = tf.variable(tf.scalar(1));
  const table = tf.tensor1d([10, 20]);
  const traced = traceGraph({
    inputs: { x: { dtype: 'float32', shape: [2] } },
    parameters: { weight },
    build: ({ x }) => ({ y: tf.add(tf.mul(x, weight), table), twice: tf.mul(x, 2) }),
  });
  expect(Object.keys(traced.parameters)).toEqual(['weight']);

  const model = encodeModel(encodeGraph(traced.graph, { nameOf: nameTraced }));
  const session = createSession(model, { provider: 'cpu', threads: 1 });
  weight.assign(tf.scalar(3));
  await runPending();
  const feeds: Feeds = {
    x: currentBackend().feed(tf.tensor1d([1, 2])),
    weight: currentBackend().feed(weight),
  };
  for (const leaf of traced.graph.leaves)
    feeds[nameTraced(leaf)] = currentBackend().feed(tf.tensor(leaf.data!, [...leaf.shape]));
  const [y, twice] = [nameTraced(traced.outputs.y), nameTraced(traced.outputs.twice)];
  const results = session.run(feeds, { [y]: null, [twice]: null });
  expect(results[y]!.data).toEqual(Float32Array.of(13, 26));
  expect(results[twice]!.data).toEqual(Float32Array.of(2, 4));
  session.release();
});

it('refuses to read a tensor while tracing', () => {
  const trace = (): unknown =>
    traceGraph({
      inputs: { x: { dtype: 'float32', shape: [2] } },
      build: ({ x }) => ({ y: tf.mul(x, tf.neg(x).dataSync()[0]!) }),
    });
  expect(trace).toThrow(/while tracing/);
  expect(tf.add(1, 1).dataSync()).toEqual(Float32Array.of(2));
});

it('leaves no tensors behind', () => {
  const before = tf.memory().numTensors;
  traceGraph({
    inputs: { x: { dtype: 'float32', shape: [2] } },
    build: ({ x }) => ({ y: tf.exp(tf.neg(x)) }),
  });
  expect(tf.memory().numTensors).toBe(before);
});
