import { afterAll, beforeAll, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import {
  AdamW,
  engineStats,
  runPending,
  type SlotLayout,
  startEngine,
  stopEngine,
  tf,
} from '../../../src/engine/index.ts';
import { ReferenceAdamW } from './reference-adamw.ts';

beforeAll(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterAll(stopEngine);

const rng = new Rng('adamw-onnx');
const normal = (length: number) => Array.from({ length }, () => Math.fround(rng.normal()));
const start = [normal(12), normal(3), normal(6), normal(2)];
const SHAPES = [[4, 3], [3], [3, 2], [2]];

it.each<SlotLayout>(['packed', 'separate'])(
  'as one compiled graph, %s, follows the formula through skipped steps and a rate of 0 and 1',
  async (layout) => {
    const parameters = new Map(
      start.map((values, k) => [`p${k}`, tf.tidy(() => tf.variable(tf.tensor(values, SHAPES[k]!)))]),
    );
    const options = { epsilon: 1e-8, maxGradientNorm: 1 };
    const optimizer = new AdamW(parameters, { ...options, weightDecay: 0.1, layout });
    const reference = new ReferenceAdamW(start, {
      ...options,
      learningRate: 0,
      betas: [0.9, 0.999],
      weightDecay: [0.1, 0, 0.1, 0],
      learningRateMultiplier: [1, 1, 1, 1],
    });
    const compilesBefore = engineStats().compiles;
    for (const [step, learningRate] of [0, 0.01, 1, 0.02, 0.03].entries()) {
      const gradients = start.map((values) => normal(values.length));
      if (step === 3) gradients[2]![0] = Number.NaN;
      const given = new Map(gradients.map((values, k) => [`p${k}`, tf.tensor(values, SHAPES[k]!)]));
      const { gradientNorm, applied } = tf.tidy(() => {
        const result = optimizer.step(given, { learningRate });
        return { gradientNorm: tf.keep(result.gradientNorm), applied: tf.keep(result.applied) };
      });
      await runPending();
      if ((await applied.data())[0] === 0) optimizer.discountSkippedStep();
      if (step === 3) expect((await gradientNorm.data())[0]).toBeNaN();
      else {
        const norm = reference.step(gradients, learningRate);
        expect((await gradientNorm.data())[0]! / norm).toBeCloseTo(1, 6);
      }
      for (const tensor of [gradientNorm, applied, ...given.values()]) tensor.dispose();
    }
    expect(optimizer.stepCount).toBe(4);
    expect(engineStats().compiles - compilesBefore).toBe(1);
    for (const [k, parameter] of [...parameters.values()].entries()) {
      const values = await parameter.data();
      reference.parameters[k]!.forEach((expected, i) => {
        expect(Math.abs(values[i]! - expected)).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected)));
      });
      parameter.dispose();
    }
    optimizer.dispose();
  },
);

it('one parameter after the other gives the very bits of all at once, and leaves no tensors', async () => {
  const run = async (layout: SlotLayout): Promise<number[][]> => {
    const draws = new Rng('sequential');
    const parameters = new Map(
      start.map((values, k) => [`p${k}`, tf.tidy(() => tf.variable(tf.tensor(values, SHAPES[k]!)))]),
    );
    const optimizer = new AdamW(parameters, { maxGradientNorm: 1, weightDecay: 0.1, layout });
    let before = 0;
    for (let step = 0; step < 3; step++) {
      tf.tidy(() => {
        const gradients = start.map((values, k) =>
          tf.tensor(
            values.map(() => draws.normal()),
            SHAPES[k]!,
          ),
        );
        optimizer.step(new Map(gradients.map((gradient, k) => [`p${k}`, gradient])), { learningRate: 0.01 });
      });
      await runPending();
      if (step > 0) expect(tf.memory().numTensors).toBe(before);
      before = tf.memory().numTensors;
    }
    const { tensors } = await optimizer.exportState();
    const values = [...parameters.values()].map((parameter) => [...parameter.dataSync()]);
    optimizer.dispose();
    tf.dispose([...parameters.values()]);
    return [...values, ...Object.values(tensors).map((moment) => [...moment])];
  };
  expect(await run('sequential')).toEqual(await run('separate'));
});
