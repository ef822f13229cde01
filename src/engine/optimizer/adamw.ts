import * as tf from '@tensorflow/tfjs';
import { CheckpointError, ConfigError, EngineError } from '../../core/index.ts';
import { computeNow } from '../compute-now.ts';
import { changingScalars } from './changing-scalars.ts';
import {
  gatherSlot,
  layOutSlots,
  type ParameterSlot,
  type SlotLayout,
  scatterSlot,
} from './parameter-slots.ts';

export interface AdamWOptions {
  /** Decay rates of the first and second moment, each in [0, 1). Default [0.9, 0.999]. */
  betas?: readonly [number, number];
  /** Added to the root of the second moment, > 0. Default 1e-8. */
  epsilon?: number;
  /** Decoupled weight decay, >= 0. Default 0. */
  weightDecay?: number;
  /** Which parameters decay. Default: those of rank 2 and more (no biases, no norm gains). */
  decays?: (name: string, shape: readonly number[]) => boolean;
  /** Factor on the learning rate (and so on the decay) of a parameter, >= 0. Default 1 for all. */
  learningRateMultiplier?: (name: string) => number;
  /** Global gradient-norm limit, > 0; null (default) does not clip. */
  maxGradientNorm?: number | null;
  /**
   * `packed` (default) updates all parameters of equal settings as one flat vector: few nodes, two extra copies.
   * `separate` gives each parameter nodes of its own, for models whose size forbids the copies. `sequential` also
   * computes one parameter after the other, so that new values stand beside the old ones of one parameter only.
   */
  layout?: SlotLayout;
}

export interface AdamWStep {
  /** Global L2 norm of the gradients before clipping, rank 0. Not finite if any gradient is not. */
  gradientNorm: tf.Scalar;
  /** 1 if the step was applied, 0 if it was skipped because the norm is not finite. Rank 0, float32. */
  applied: tf.Scalar;
}

/** Everything a resumed run needs, as plain data. Tensors are flat, in the parameter's own element order. */
export interface OptimizerState {
  /** Steps applied so far. */
  step: number;
  /** `<parameter>.exp_avg` and `<parameter>.exp_avg_sq` of every parameter. */
  tensors: Record<string, Float32Array>;
}

interface Slot extends ParameterSlot {
  firstMoment: tf.Variable;
  secondMoment: tf.Variable;
}

// The largest finite float32 is 3.4028e38: below it is finite, and neither infinity nor NaN is.
const FINITE_LIMIT = 3.4e38;

const FIRST = 'exp_avg';
const SECOND = 'exp_avg_sq';

/**
 * AdamW: Adam with decoupled weight decay (Loshchilov and Hutter, Decoupled Weight Decay Regularization,
 * algorithm 2), in PyTorch's form, with global gradient-norm clipping (Pascanu et al., On the difficulty of
 * training recurrent neural networks, algorithm 1). The whole update is tensor operations without a round
 * trip to the host: a non-finite gradient norm leaves parameters and moments as they were, inside the graph.
 */
export class AdamW {
  readonly #parameters: ReadonlyMap<string, tf.Variable>;
  readonly #slots: Slot[];
  readonly #betas: readonly [number, number];
  readonly #epsilon: number;
  readonly #maxGradientNorm: number | null;
  readonly #sequential: boolean;
  #step = 0;

  constructor(parameters: ReadonlyMap<string, tf.Variable>, options: AdamWOptions = {}) {
    const {
      betas = [0.9, 0.999],
      epsilon = 1e-8,
      weightDecay = 0,
      decays = (_name: string, shape: readonly number[]) => shape.length >= 2,
      learningRateMultiplier = () => 1,
      maxGradientNorm = null,
      layout = 'packed',
    } = options;
    if (parameters.size === 0) {
      throw new ConfigError('AdamW got no parameters', { hint: 'unfreeze at least one parameter' });
    }
    requireNumber('betas[0]', betas[0], betas[0] >= 0 && betas[0] < 1, 'in [0, 1)');
    requireNumber('betas[1]', betas[1], betas[1] >= 0 && betas[1] < 1, 'in [0, 1)');
    requireNumber('epsilon', epsilon, epsilon > 0, '> 0');
    requireNumber('weightDecay', weightDecay, weightDecay >= 0, '>= 0');
    if (maxGradientNorm !== null) {
      requireNumber('maxGradientNorm', maxGradientNorm, maxGradientNorm > 0, '> 0 or null');
    }
    this.#parameters = parameters;
    this.#betas = betas;
    this.#epsilon = epsilon;
    this.#maxGradientNorm = maxGradientNorm;
    this.#sequential = layout === 'sequential';
    const settingsOf = (name: string, shape: readonly number[]) => {
      const multiplier = learningRateMultiplier(name);
      requireNumber(`learningRateMultiplier of ${name}`, multiplier, multiplier >= 0, '>= 0');
      return { weightDecay: decays(name, shape) ? weightDecay : 0, learningRateMultiplier: multiplier };
    };
    this.#slots = layOutSlots(parameters, settingsOf, layout).map((slot) => ({
      ...slot,
      firstMoment: startingMoment(slot.shape),
      secondMoment: startingMoment(slot.shape),
    }));
  }

  /** Steps applied so far; the bias correction of the next step uses this plus one. */
  get stepCount(): number {
    return this.#step;
  }

  /**
   * Updates every parameter and moment variable. Call inside `tf.tidy`; keep the returned tensors if they are
   * read after it. If `applied` reads 0, call {@link discountSkippedStep}.
   *
   * @param gradients one tensor per parameter, in the parameter's shape
   */
  step(gradients: ReadonlyMap<string, tf.Tensor>, { learningRate }: { learningRate: number }): AdamWStep {
    requireNumber('learningRate', learningRate, learningRate >= 0, '>= 0');
    this.#checkGradients(gradients);
    this.#step++;
    const scalars = this.#scalars(learningRate);
    const slotGradients = this.#slots.map((slot) => gatherSlot(slot, (name) => gradients.get(name)!));
    const gradientNorm = tf.sqrt(tf.addN(slotGradients.map((g) => tf.sum(tf.square(g))))) as tf.Scalar;
    const finite = tf.less(gradientNorm, FINITE_LIMIT);
    const applied = tf.cast(finite, 'float32') as tf.Scalar;
    const clip = tf.where(finite, this.#clipFactor(gradientNorm), tf.zerosLike(gradientNorm));
    // Scalars that fold clipping, bias correction and rates, so that each costs no pass over the parameters.
    // With applied = 0 they make every update x * 1 + 0, which is x to the bit.
    const one = tf.onesLike(applied);
    const firstRate = scalars.firstRate.mul(applied);
    const secondRate = scalars.secondRate.mul(applied);
    const firstKeep = one.sub(firstRate);
    const secondKeep = one.sub(secondRate);
    const firstGain = firstRate.mul(clip);
    const secondGain = secondRate.mul(tf.square(clip));

    const change = (slot: Slot, i: number): void => {
      const raw = slotGradients[i]!;
      const gradient = tf.where(finite, raw, tf.zerosLike(raw));
      const first = slot.firstMoment.mul(firstKeep).add(gradient.mul(firstGain));
      const second = slot.secondMoment.mul(secondKeep).add(tf.square(gradient).mul(secondGain));
      const rate = scalars[`rate${i}`]!.mul(applied);
      const step = tf.div(first, tf.sqrt(second).add(scalars.epsilon)).mul(rate);
      let old = gatherSlot(slot, (name) => this.#parameters.get(name)!);
      if (slot.weightDecay > 0) old = old.mul(one.sub(scalars[`decay${i}`]!.mul(applied)));
      for (const [name, part] of scatterSlot(slot, old.sub(step))) this.#parameters.get(name)!.assign(part);
      slot.firstMoment.assign(first);
      slot.secondMoment.assign(second);
    };
    if (this.#sequential) computeNow();
    for (const [i, slot] of this.#slots.entries()) {
      if (this.#sequential) {
        tf.tidy(() => change(slot, i));
        computeNow();
      } else change(slot, i);
    }
    return { gradientNorm, applied };
  }

  /** Takes the last step back out of the count, after its `applied` was read as 0. */
  discountSkippedStep(): void {
    if (this.#step === 0) throw new EngineError('AdamW.discountSkippedStep: no step was taken');
    this.#step--;
  }

  /** Count and moments, the same for all layouts. The arrays are not copies: read them, before the next step. */
  async exportState(): Promise<OptimizerState> {
    const tensors: Record<string, Float32Array> = {};
    for (const slot of this.#slots) {
      for (const [suffix, moment] of [
        [FIRST, slot.firstMoment],
        [SECOND, slot.secondMoment],
      ] as const) {
        const whole = await moment.data<'float32'>();
        let offset = 0;
        for (const { name, size } of slot.members) {
          tensors[`${name}.${suffix}`] = whole.subarray(offset, offset + size);
          offset += size;
        }
      }
    }
    return { step: this.#step, tensors };
  }

  /** Restores {@link exportState}, to the bit. Names and sizes must match the parameters exactly. */
  importState(state: OptimizerState): void {
    if (!Number.isInteger(state.step) || state.step < 0) {
      throw new CheckpointError(`optimizer state: step is ${state.step}, allowed is an integer >= 0`);
    }
    const expected = new Map<string, number>();
    for (const [name, { size }] of this.#parameters) {
      expected.set(`${name}.${FIRST}`, size);
      expected.set(`${name}.${SECOND}`, size);
    }
    const problems: string[] = [];
    for (const [key, size] of expected) {
      const got = state.tensors[key]?.length;
      if (got !== size) problems.push(`${key}: got ${got ?? 'nothing'}, expected ${size} numbers`);
    }
    for (const key of Object.keys(state.tensors)) if (!expected.has(key)) problems.push(`${key}: unknown`);
    if (problems.length > 0) {
      throw new CheckpointError(
        `optimizer state does not fit the parameters: ${problems.slice(0, 5).join('; ')}` +
          (problems.length > 5 ? `; and ${problems.length - 5} more` : ''),
        { hint: 'resume with the configuration the checkpoint was made with' },
      );
    }
    for (const slot of this.#slots) {
      restore(slot.firstMoment, slot, FIRST, state.tensors);
      restore(slot.secondMoment, slot, SECOND, state.tensors);
    }
    this.#step = state.step;
  }

  dispose(): void {
    for (const slot of this.#slots) {
      slot.firstMoment.dispose();
      slot.secondMoment.dispose();
    }
  }

  /**
   * Everything that changes from step to step. With c1 = 1 - beta1^t and c2 = 1 - beta2^t the change
   * lr (m / c1) / (sqrt(v / c2) + epsilon) is rate * m / (sqrt(v) + epsilon sqrt(c2)), rate = lr sqrt(c2) / c1.
   */
  #scalars(learningRate: number) {
    const [beta1, beta2] = this.#betas;
    const rootOfSecond = Math.sqrt(1 - beta2 ** this.#step);
    const values: Record<string, number> = {
      firstRate: 1 - beta1,
      secondRate: 1 - beta2,
      epsilon: this.#epsilon * rootOfSecond,
    };
    this.#slots.forEach((slot, i) => {
      const rate = learningRate * slot.learningRateMultiplier;
      values[`rate${i}`] = (rate * rootOfSecond) / (1 - beta1 ** this.#step);
      values[`decay${i}`] = rate * slot.weightDecay;
    });
    return changingScalars(values) as Record<string, tf.Scalar> &
      Record<'firstRate' | 'secondRate' | 'epsilon', tf.Scalar>;
  }

  #clipFactor(gradientNorm: tf.Scalar): tf.Scalar {
    if (this.#maxGradientNorm === null) return tf.onesLike(gradientNorm);
    // 1e-6 as in PyTorch's clip_grad_norm_.
    return tf.minimum(tf.div(this.#maxGradientNorm, gradientNorm.add(1e-6)), 1);
  }

  #checkGradients(gradients: ReadonlyMap<string, tf.Tensor>): void {
    for (const name of gradients.keys()) {
      if (!this.#parameters.has(name)) {
        throw new EngineError(`AdamW got a gradient for ${name}, which is not among its parameters`);
      }
    }
    for (const [name, { shape }] of this.#parameters) {
      const gradient = gradients.get(name);
      if (gradient === undefined) {
        throw new EngineError(`AdamW got no gradient for ${name}`, {
          hint: 'give zeros if the loss does not reach it, or leave the parameter out of the optimizer',
        });
      }
      if (gradient.shape.join() !== shape.join()) {
        throw new EngineError(`gradient of ${name} has shape [${gradient.shape}], the parameter [${shape}]`);
      }
    }
  }
}

function requireNumber(name: string, value: number, allowed: boolean, range: string): void {
  if (!Number.isFinite(value) || !allowed) {
    throw new ConfigError(`optimizer ${name} is ${value}, allowed is ${range}`);
  }
}

function startingMoment(shape: number[]): tf.Variable {
  // Uploaded, not tf.zeros: a backend may fold a zero fill into the graph and compile the first step apart.
  const zeros = new Float32Array(tf.util.sizeFromShape(shape));
  return tf.tidy(() => tf.variable(tf.tensor(zeros, shape, 'float32'), false));
}

function restore(
  moment: tf.Variable,
  slot: ParameterSlot,
  suffix: string,
  tensors: Record<string, Float32Array>,
): void {
  const whole = new Float32Array(moment.size);
  let offset = 0;
  for (const { name, size } of slot.members) {
    whole.set(tensors[`${name}.${suffix}`]!, offset);
    offset += size;
  }
  tf.tidy(() => moment.assign(tf.tensor(whole, slot.shape, 'float32')));
}
