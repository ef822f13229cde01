import { afterEach, expect, it } from 'vitest';
import { AdamW, engineStats, runPending, startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { loss, makeParameters, SIZES } from './tiny-transformer.ts';

afterEach(() => {
  tf.disposeVariables();
  stopEngine();
});

const STEPS = 5;
const BATCH = 3;
const TIME = 7;

interface Run {
  losses: number[];
  weights: Record<string, number[]>;
  tensors: number[];
}

/** AdamW steps with a changing learning rate and other data in every step. */
async function train(): Promise<Run> {
  const parameters = makeParameters();
  const optimizer = new AdamW(parameters, { weightDecay: 0.1, maxGradientNorm: 1 });
  const run: Run = { losses: [], weights: {}, tensors: [] };
  for (let step = 0; step < STEPS; step++) {
    const ids = (offset: number): Int32Array =>
      Int32Array.from(
        { length: BATCH * TIME },
        (_, i) => (7 * i * i + 11 * step + offset) % SIZES.vocabulary,
      );
    const value = tf.tidy(() => {
      const tokens = tf.tensor2d(ids(0), [BATCH, TIME], 'int32');
      const targets = tf.tensor2d(ids(3), [BATCH, TIME], 'int32');
      const result = tf.variableGrads(() => loss(parameters, { tokens, targets }));
      const gradients = new Map(
        [...parameters].map(([name, variable]) => [name, result.grads[variable.name]!]),
      );
      optimizer.step(gradients, { learningRate: 0.001 * (step + 1) });
      return result.value;
    });
    await runPending();
    run.losses.push((await value.data())[0]!);
    value.dispose();
    run.tensors.push(tf.memory().numTensors);
  }
  for (const [name, variable] of parameters) run.weights[name] = Array.from(await variable.data());
  optimizer.dispose();
  return run;
}

it('trains a transformer as plain JavaScript does, in one graph per step', async () => {
  await startEngine({ backend: 'cpu' });
  const expected = await train();
  tf.disposeVariables();
  stopEngine();

  await startEngine({ backend: 'onnx', threads: 2 });
  const got = await train();
  expect(engineStats()).toMatchObject({ runs: STEPS, compiles: 1, delegated: {} });
  expect(new Set(got.tensors).size).toBe(1);
  got.losses.forEach((value, step) => {
    expect(Math.abs(value / expected.losses[step]! - 1)).toBeLessThan(1e-5);
  });
  for (const [name, weights] of Object.entries(expected.weights)) {
    const error = Math.hypot(...weights.map((value, i) => value - got.weights[name]![i]!));
    expect(error / Math.hypot(...weights), name).toBeLessThan(1e-4);
  }
});
