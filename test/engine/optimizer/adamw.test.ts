import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointError, ConfigError, EngineError, Rng } from '../../../src/core/index.ts';
import {
  AdamW,
  type AdamWOptions,
  type SlotLayout,
  startEngine,
  stopEngine,
  tf,
} from '../../../src/engine/index.ts';
import { ReferenceAdamW } from './reference-adamw.ts';

const NAMES = ['embedding', 'norm', 'head', 'scale'];
const SHAPES = [[4, 3], [3], [3, 2], []];
const OPTIONS = {
  betas: [0.9, 0.95],
  epsilon: 1e-8,
  weightDecay: 0.1,
  maxGradientNorm: 1,
  learningRateMultiplier: (name: string) => (name === 'head' ? 0.5 : 1),
} satisfies AdamWOptions;

const sizeOf = (shape: number[]) => shape.reduce((product, n) => product * n, 1);

/** Values for every parameter, the same for the same seed. */
function draw(seed: string, scale: number): number[][] {
  const rng = new Rng(seed);
  return SHAPES.map((shape) =>
    Array.from({ length: sizeOf(shape) }, () => Math.fround(rng.normal(0, scale))),
  );
}

const tensorsOf = (values: number[][]): Map<string, tf.Tensor> =>
  new Map(NAMES.map((name, k) => [name, tf.tensor(values[k]!, SHAPES[k]!)]));

function makeParameters(): Map<string, tf.Variable> {
  const start = draw('start', 0.5);
  return new Map(
    NAMES.map((name, k) => [name, tf.tidy(() => tf.variable(tf.tensor(start[k]!, SHAPES[k]!)))]),
  );
}

/** One step; gives back the norm and whether it was applied. */
function take(optimizer: AdamW, gradients: number[][], learningRate: number) {
  return tf.tidy(() => {
    const { gradientNorm, applied } = optimizer.step(tensorsOf(gradients), { learningRate });
    return { gradientNorm: gradientNorm.dataSync()[0]!, applied: applied.dataSync()[0]! };
  });
}

const read = (parameters: Map<string, tf.Variable>) => [...parameters.values()].map((p) => [...p.dataSync()]);

/** Largest difference relative to the larger of the value and 1. */
function worst(a: number[][], b: number[][]): number {
  const flat = b.flat();
  return Math.max(...a.flat().map((x, i) => Math.abs(x - flat[i]!) / Math.max(1, Math.abs(flat[i]!))));
}

let parameters: Map<string, tf.Variable>;

beforeAll(async () => {
  await startEngine({ backend: 'cpu' });
});
afterAll(stopEngine);
beforeEach(() => {
  parameters = makeParameters();
});
afterEach(() => {
  for (const parameter of parameters.values()) parameter.dispose();
});

describe.each<SlotLayout>(['packed', 'separate'])('AdamW, %s', (layout) => {
  const reference = (over: Partial<ConstructorParameters<typeof ReferenceAdamW>[1]> = {}) =>
    new ReferenceAdamW(draw('start', 0.5), {
      learningRate: 0.01,
      betas: OPTIONS.betas as [number, number],
      epsilon: OPTIONS.epsilon,
      weightDecay: [0.1, 0, 0.1, 0],
      learningRateMultiplier: [1, 1, 0.5, 1],
      maxGradientNorm: 1,
      ...over,
    });

  it('follows the formula over 10 steps with clipping, decay, multipliers and a changing rate', () => {
    const optimizer = new AdamW(parameters, { ...OPTIONS, layout });
    const expected = reference();
    for (let step = 0; step < 10; step++) {
      // Norms from about 0.1 to about 4, so that some steps are clipped and some are not.
      const gradients = draw(`gradient ${step}`, step % 2 === 0 ? 0.02 : 1);
      const rate = 0.02 * (1 - step / 10);
      const norm = expected.step(gradients, rate);
      const { gradientNorm, applied } = take(optimizer, gradients, rate);
      expect(Math.abs(gradientNorm - norm)).toBeLessThan(1e-6 * Math.max(1, norm));
      expect(applied).toBe(1);
    }
    expect(worst(read(parameters), expected.parameters)).toBeLessThan(1e-6);
    expect(worst(draw('start', 0.5), expected.parameters)).toBeGreaterThan(1e-2);
    optimizer.dispose();
  });

  it('keeps the moments of the formula', async () => {
    const optimizer = new AdamW(parameters, { ...OPTIONS, layout });
    const expected = reference();
    for (let step = 0; step < 3; step++) {
      const gradients = draw(`gradient ${step}`, 1);
      expected.step(gradients);
      take(optimizer, gradients, 0.01);
    }
    const { step, tensors } = await optimizer.exportState();
    expect(step).toBe(3);
    NAMES.forEach((name, k) => {
      expect(worst([[...tensors[`${name}.exp_avg`]!]], [expected.m[k]!])).toBeLessThan(1e-7);
      expect(worst([[...tensors[`${name}.exp_avg_sq`]!]], [expected.v[k]!])).toBeLessThan(1e-7);
    });
    optimizer.dispose();
  });

  it('does not clip without a limit', () => {
    const optimizer = new AdamW(parameters, { ...OPTIONS, maxGradientNorm: null, epsilon: 0.1, layout });
    const expected = reference({ maxGradientNorm: null, epsilon: 0.1 });
    // With so large an epsilon the size of the gradient matters.
    const gradients = draw('gradient', 5);
    expected.step(gradients);
    take(optimizer, gradients, 0.01);
    expect(worst(read(parameters), expected.parameters)).toBeLessThan(1e-6);
    optimizer.dispose();
  });

  it.each([
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a square beyond float32', 1e30],
  ])('leaves everything as it was, to the bit, for %s in one gradient', async (_name, poison) => {
    const optimizer = new AdamW(parameters, { ...OPTIONS, layout });
    take(optimizer, draw('gradient', 1), 0.01);
    const before = { parameters: read(parameters), state: await optimizer.exportState() };
    const gradients = draw('gradient', 1);
    gradients[1]![2] = poison;
    const { gradientNorm, applied } = take(optimizer, gradients, 0.01);
    optimizer.discountSkippedStep();
    expect(applied).toBe(0);
    expect(Number.isFinite(gradientNorm)).toBe(false);
    expect(read(parameters)).toEqual(before.parameters);
    expect(await optimizer.exportState()).toEqual(before.state);
    optimizer.dispose();
  });

  it('continues after a skipped step as if it had not been', () => {
    const optimizer = new AdamW(parameters, { ...OPTIONS, layout });
    const expected = reference();
    for (const [step, poisoned] of [false, true, false].entries()) {
      const gradients = draw(`gradient ${step}`, 1);
      if (!poisoned) expected.step(gradients);
      else gradients[0]![0] = Number.NaN;
      if (take(optimizer, gradients, 0.01).applied === 0) optimizer.discountSkippedStep();
    }
    expect(worst(read(parameters), expected.parameters)).toBeLessThan(1e-6);
    optimizer.dispose();
  });

  it('resumes to the bit from an exported state', async () => {
    const whole = new AdamW(parameters, { ...OPTIONS, layout });
    for (let step = 0; step < 6; step++) take(whole, draw(`gradient ${step}`, 1), 0.01);
    const uninterrupted = read(parameters);
    whole.dispose();

    const others = makeParameters();
    const first = new AdamW(others, { ...OPTIONS, layout });
    for (let step = 0; step < 3; step++) take(first, draw(`gradient ${step}`, 1), 0.01);
    const state = await first.exportState();
    first.dispose();
    const second = new AdamW(others, { ...OPTIONS, layout });
    second.importState(state);
    for (let step = 3; step < 6; step++) take(second, draw(`gradient ${step}`, 1), 0.01);
    expect(read(others)).toEqual(uninterrupted);
    second.dispose();
    for (const parameter of others.values()) parameter.dispose();
  });

  it('changes nothing at learning rate 0 but the moments', async () => {
    const optimizer = new AdamW(parameters, { ...OPTIONS, layout });
    take(optimizer, draw('gradient', 0.01), 0);
    expect(read(parameters)).toEqual(draw('start', 0.5));
    const { tensors } = await optimizer.exportState();
    expect(tensors['norm.exp_avg']![0]).toBeCloseTo(0.1 * draw('gradient', 0.01)[1]![0]!, 7);
    optimizer.dispose();
  });

  it('leaves no tensor behind', () => {
    const before = tf.memory().numTensors;
    const optimizer = new AdamW(parameters, { ...OPTIONS, layout });
    take(optimizer, draw('gradient', 1), 0.01);
    const afterOne = tf.memory().numTensors;
    take(optimizer, draw('gradient', 1), 0.01);
    expect(tf.memory().numTensors).toBe(afterOne);
    optimizer.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('AdamW', () => {
  it('reads the state of one layout into the other', async () => {
    const packed = new AdamW(parameters, { ...OPTIONS, layout: 'packed' });
    take(packed, draw('gradient', 1), 0.01);
    const state = await packed.exportState();
    const separate = new AdamW(parameters, { ...OPTIONS, layout: 'separate' });
    separate.importState(state);
    expect(await separate.exportState()).toEqual(state);
    packed.dispose();
    separate.dispose();
  });

  it('refuses a missing, an unknown and a misshapen gradient', () => {
    const optimizer = new AdamW(parameters);
    const step = (change: (gradients: Map<string, tf.Tensor>) => void) =>
      tf.tidy(() => {
        const gradients = tensorsOf(draw('gradient', 1));
        change(gradients);
        optimizer.step(gradients, { learningRate: 0.01 });
      });
    expect(() => step((g) => g.delete('norm'))).toThrow('no gradient for norm');
    expect(() => step((g) => g.set('ghost', tf.scalar(1)))).toThrow('gradient for ghost');
    expect(() => step((g) => g.set('norm', tf.zeros([3, 1])))).toThrow('gradient of norm has shape [3,1]');
    expect(optimizer.stepCount).toBe(0);
    optimizer.dispose();
  });

  it('refuses a state of other parameters, naming them', async () => {
    const optimizer = new AdamW(parameters);
    const state = await optimizer.exportState();
    const { 'norm.exp_avg': _gone, ...rest } = state.tensors;
    expect(() => optimizer.importState({ step: 1, tensors: rest })).toThrow(CheckpointError);
    expect(() => optimizer.importState({ step: 1, tensors: rest })).toThrow('norm.exp_avg: got nothing');
    const longer = { ...state.tensors, 'norm.exp_avg': new Float32Array(4) };
    expect(() => optimizer.importState({ step: 1, tensors: longer })).toThrow('got 4, expected 3');
    const extra = { ...state.tensors, 'ghost.exp_avg': new Float32Array(1) };
    expect(() => optimizer.importState({ step: 1, tensors: extra })).toThrow('ghost.exp_avg: unknown');
    optimizer.dispose();
  });

  it.each<[string, AdamWOptions]>([
    ['beta of 1', { betas: [0.9, 1] }],
    ['epsilon of 0', { epsilon: 0 }],
    ['negative decay', { weightDecay: -0.1 }],
    ['norm limit of 0', { maxGradientNorm: 0 }],
    ['negative multiplier', { learningRateMultiplier: () => -1 }],
  ])('refuses a %s', (_name, options) => {
    expect(() => new AdamW(parameters, options)).toThrow(ConfigError);
  });

  it('refuses to have no parameters', () => {
    expect(() => new AdamW(new Map())).toThrow(ConfigError);
  });

  it('refuses to take back a step that was not taken', () => {
    const optimizer = new AdamW(parameters);
    expect(() => optimizer.discountSkippedStep()).toThrow(EngineError);
    optimizer.dispose();
  });
});
