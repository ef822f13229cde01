import type { Rng } from '../../core/index.ts';
import { tf } from '../../engine/index.ts';
import { loraScaling } from './settings.ts';

/** The two matrices beside one linear layer. */
export interface LoraPair {
  /** A [rank, in] */
  down: tf.Variable;
  /** B [out, rank] */
  up: tf.Variable;
}

/** An adapter on a model's linear layers. It lies beside the parameters, which it leaves as they are. */
export interface Adapter {
  rank: number;
  alpha: number;
  rsLora: boolean;
  /** Share of A's inputs dropped while training. */
  dropout: number;
  /** By the name of the layer, without `.weight`. */
  pairs: ReadonlyMap<string, LoraPair>;
  /** Where the dropout of a training step is drawn from (`droppingOut`); undefined at all other times. */
  readonly draws?: Rng | undefined;
}

export function loraPair(
  rank: number,
  output: number,
  input: number,
  down: Float32Array,
  up: Float32Array,
): LoraPair {
  return tf.tidy(() => ({
    down: tf.variable(tf.tensor(down, [rank, input], 'float32')),
    up: tf.variable(tf.tensor(up, [output, rank], 'float32')),
  }));
}

/** A and B of every layer by the names `<layer>.lora_A.weight` and `<layer>.lora_B.weight`: what is trained. */
export function adapterParameters({ pairs }: Pick<Adapter, 'pairs'>): Map<string, tf.Variable> {
  const variables = new Map<string, tf.Variable>();
  for (const [layer, { down, up }] of pairs) {
    variables.set(`${layer}.lora_A.weight`, down);
    variables.set(`${layer}.lora_B.weight`, up);
  }
  return variables;
}

/** A copy with variables of its own, for example the reference of a policy that goes on training. */
export function copyAdapter(adapter: Adapter): Adapter {
  const copy = (variable: tf.Variable): tf.Variable => tf.tidy(() => tf.variable(variable.clone()));
  return {
    ...adapter,
    pairs: new Map(
      [...adapter.pairs].map(([layer, { down, up }]) => [layer, { down: copy(down), up: copy(up) }]),
    ),
    draws: undefined,
  };
}

export function disposeAdapter(adapter: Adapter): void {
  for (const variable of adapterParameters(adapter).values()) variable.dispose();
}

/** s B (A x), [n, out], for x [n, in]. The scale meets the narrow product, where it costs least. */
export function adapterTerm(adapter: Adapter, layer: string, x: tf.Tensor2D): tf.Tensor2D | undefined {
  const pair = adapter.pairs.get(layer);
  if (pair === undefined) return undefined;
  const narrow: tf.Tensor2D = tf.matMul(dropped(adapter, layer, x), pair.down as tf.Tensor2D, false, true);
  const scaled: tf.Tensor2D = tf.mul(narrow, loraScaling(adapter));
  return tf.matMul<tf.Tensor2D>(scaled, pair.up as tf.Tensor2D, false, true);
}

/** Inputs kept with probability 1 - p and divided by it. */
function dropped({ draws, dropout }: Adapter, layer: string, x: tf.Tensor2D): tf.Tensor2D {
  if (draws === undefined || dropout === 0) return x;
  const source = draws.fork('dropout', layer);
  const keep = 1 / (1 - dropout);
  const limit = dropout * 2 ** 32;
  const mask = Float32Array.from({ length: x.size }, () => (source.uint32() < limit ? 0 : keep));
  return tf.mul(x, tf.tensor2d(mask, x.shape));
}
