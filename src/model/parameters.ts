import { CheckpointError, type Rng } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import type { TensorData } from '../formats/index.ts';
import type { AnyModelConfig, TextConfig, VisionConfig } from './config.ts';
import { type Adapter, disposeAdapter } from './lora/adapter.ts';

/** All weights of a model by their Hugging Face names, as in the released checkpoints. */
export interface Parameters extends Map<string, tf.Variable> {
  /** Low-rank matrices beside the linear layers, where the model is adapted. */
  adapter?: Adapter | undefined;
}

export const EMBEDDING_NAME = 'model.embed_tokens.weight';
/** A parameter of its own only where the head is not tied to the embedding. */
export const HEAD_NAME = 'lm_head.weight';

/** Names and shapes of every tensor the configuration asks for, in a fixed order. Linear weights are [out, in]. */
export function parameterShapes(config: AnyModelConfig): Map<string, number[]> {
  const shapes: Shapes = new Map();
  if (config.vision !== null) addVisionShapes(shapes, config.vision);
  addLanguageShapes(shapes, config.text);
  return shapes;
}

type Shapes = Map<string, number[]>;

function addLinear(shapes: Shapes, name: string, output: number, input: number, bias: boolean): void {
  shapes.set(`${name}.weight`, [output, input]);
  if (bias) shapes.set(`${name}.bias`, [output]);
}

function addVisionShapes(shapes: Shapes, v: VisionConfig): void {
  const linear = (name: string, output: number, input: number) =>
    addLinear(shapes, name, output, input, true);
  const norm = (name: string) => {
    shapes.set(`${name}.weight`, [v.hiddenSize]);
    if (v.norm === 'layer') shapes.set(`${name}.bias`, [v.hiddenSize]);
  };
  shapes.set('visual.patch_embed.proj.weight', [
    v.hiddenSize,
    3,
    v.temporalPatchSize,
    v.patchSize,
    v.patchSize,
  ]);
  for (let i = 0; i < v.depth; i++) {
    const block = `visual.blocks.${i}`;
    norm(`${block}.norm1`);
    norm(`${block}.norm2`);
    linear(`${block}.attn.qkv`, 3 * v.hiddenSize, v.hiddenSize);
    linear(`${block}.attn.proj`, v.hiddenSize, v.hiddenSize);
    const { into, out } = VISION_MLP_LAYERS[v.mlp];
    for (const name of into) linear(`${block}.mlp.${name}`, v.intermediateSize, v.hiddenSize);
    linear(`${block}.mlp.${out}`, v.hiddenSize, v.intermediateSize);
  }
  const merged = v.hiddenSize * v.spatialMergeSize ** 2;
  norm('visual.merger.ln_q');
  linear('visual.merger.mlp.0', merged, merged);
  linear('visual.merger.mlp.2', v.outHiddenSize, merged);
}

/** The linear layers of a vision block's MLP by their last names. */
const VISION_MLP_LAYERS: Readonly<Record<VisionConfig['mlp'], { into: readonly string[]; out: string }>> = {
  swiglu: { into: ['gate_proj', 'up_proj'], out: 'down_proj' },
  'quick-gelu': { into: ['fc1'], out: 'fc2' },
};

function addLanguageShapes(shapes: Shapes, t: TextConfig): void {
  const linear = (name: string, output: number, input: number, bias: boolean) =>
    addLinear(shapes, name, output, input, bias);
  shapes.set(EMBEDDING_NAME, [t.vocabularySize, t.hiddenSize]);
  for (let i = 0; i < t.layers; i++) {
    const layer = `model.layers.${i}`;
    shapes.set(`${layer}.input_layernorm.weight`, [t.hiddenSize]);
    shapes.set(`${layer}.post_attention_layernorm.weight`, [t.hiddenSize]);
    linear(`${layer}.self_attn.q_proj`, t.heads * t.headSize, t.hiddenSize, true);
    linear(`${layer}.self_attn.k_proj`, t.keyValueHeads * t.headSize, t.hiddenSize, true);
    linear(`${layer}.self_attn.v_proj`, t.keyValueHeads * t.headSize, t.hiddenSize, true);
    linear(`${layer}.self_attn.o_proj`, t.hiddenSize, t.heads * t.headSize, false);
    linear(`${layer}.mlp.gate_proj`, t.intermediateSize, t.hiddenSize, false);
    linear(`${layer}.mlp.up_proj`, t.intermediateSize, t.hiddenSize, false);
    linear(`${layer}.mlp.down_proj`, t.hiddenSize, t.intermediateSize, false);
  }
  shapes.set('model.norm.weight', [t.hiddenSize]);
  if (!t.tieWordEmbeddings) linear('lm_head', t.vocabularySize, t.hiddenSize, false);
}

/** Who names tensors how: the released checkpoints, or transformers from 4.52 on in memory. */
export const NAME_STYLES = ['released', 'new'] as const;
export type NameStyle = (typeof NAME_STYLES)[number];

/** Newer transformers say `model.visual.` and `model.language_model.`; this gives the released names. */
export function canonicalName(name: string): string {
  const inner = name
    .replace(/^model\.visual\./, 'visual.')
    .replace(/^(model\.)?language_model\.(model\.)?/, 'model.');
  return inner.replace(/^model\.lm_head\./, 'lm_head.');
}

/** The style that a model's tensors are named in where one is asked for: a language model alone has kept its names. */
export const styleFor = ({ vision }: AnyModelConfig, style: NameStyle = 'released'): NameStyle =>
  vision === null ? 'released' : style;

/** The name of a parameter in a file of the given style; the inverse of `canonicalName`. */
export function storedName(name: string, style: NameStyle): string {
  if (style === 'released') return name;
  return name.replace(/^model\./, 'model.language_model.').replace(/^visual\./, 'model.visual.');
}

const EMBEDDING_STD = 0.5;
const HEAD_STD = 0.02;
/** Standard deviation of the initial logits of a tied head; see `initialValues`. */
const TIED_LOGIT_STD = 0.25;
const RESIDUAL_OUTPUT = /\.(attn\.proj|self_attn\.o_proj|mlp\.(down_proj|fc2))\.weight$/;

/**
 * Initial weights for training from scratch, for models too small to inherit Qwen's. Linear weights are
 * normal with std 1/sqrt(fan in), halved where they write to the residual stream; biases 0; norm gains 1;
 * embeddings std 0.5.
 *
 * A tied head would turn embeddings of std 0.5 into logits of std 0.5 sqrt(hidden), a confident and wrong
 * start. Shrinking the embeddings instead would drown the token's identity in the residual stream (the
 * blocks write at order one). So the embeddings keep their size and the gain of the final norm, which only
 * the head sees, starts at the value that gives logits of std 0.25.
 */
export function initialValues(config: AnyModelConfig, rng: Rng): Map<string, TensorData> {
  const { tieWordEmbeddings, hiddenSize } = config.text;
  const values = new Map<string, TensorData>();
  for (const [name, shape] of parameterShapes(config)) {
    const data = new Float32Array(sizeOf(shape));
    if (name === 'model.norm.weight' && tieWordEmbeddings) {
      data.fill(TIED_LOGIT_STD / (EMBEDDING_STD * Math.sqrt(hiddenSize)));
    } else if (shape.length === 1) {
      if (name.endsWith('.weight')) data.fill(1);
    } else {
      const source = rng.fork(name);
      const std = initialStd(name, shape);
      for (let i = 0; i < data.length; i++) data[i] = source.normal(0, std);
    }
    values.set(name, { shape, data });
  }
  return values;
}

function initialStd(name: string, shape: readonly number[]): number {
  if (name === EMBEDDING_NAME) return EMBEDDING_STD;
  if (name === HEAD_NAME) return HEAD_STD;
  const fanIn = sizeOf(shape) / shape[0]!;
  return (RESIDUAL_OUTPUT.test(name) ? 0.5 : 1) / Math.sqrt(fanIn);
}

/**
 * Makes variables of named values. Every tensor of the configuration must be there with its shape, and no
 * other; all differences are listed in one CheckpointError.
 */
export function loadParameters(
  config: AnyModelConfig,
  values: ReadonlyMap<string, TensorData>,
  origin = 'the checkpoint',
): Parameters {
  checkParameters(config, values, origin);
  const parameters: Parameters = new Map();
  for (const name of parameterShapes(config).keys()) parameters.set(name, variableOf(values.get(name)!));
  return parameters;
}

/** A variable of these values. The engine may keep the array itself: it must not be changed afterwards. */
export const variableOf = ({ shape, data }: TensorData): tf.Variable =>
  tf.tidy(() => tf.variable(tf.tensor(data, [...shape], 'float32')));

/** CheckpointError unless the names and shapes are exactly those of the configuration. */
export function checkParameters(
  config: AnyModelConfig,
  found: ReadonlyMap<string, { shape: readonly number[] }>,
  origin: string,
): void {
  const expected = parameterShapes(config);
  const missing = [...expected.keys()].filter((name) => !found.has(name));
  const extra = [...found.keys()].filter((name) => !expected.has(name));
  const misshaped: string[] = [];
  for (const [name, shape] of expected) {
    const got = found.get(name)?.shape;
    if (got !== undefined && got.join() !== shape.join()) {
      misshaped.push(`${name} is [${got.join(', ')}] instead of [${shape.join(', ')}]`);
    }
  }
  const problems = [
    ...listed('missing', missing),
    ...listed('not in the configuration', extra),
    ...listed('wrong shape', misshaped),
  ];
  if (problems.length > 0) {
    throw new CheckpointError(`${origin} does not fit its configuration:\n${problems.join('\n')}`, {
      hint: 'check that config.json and the weights belong to the same model',
    });
  }
}

/** Copies the current values out of the engine. */
export async function exportParameters(parameters: Parameters): Promise<Map<string, TensorData>> {
  const values = new Map<string, TensorData>();
  for (const [name, variable] of parameters) {
    const data = (await variable.data()) as Float32Array;
    values.set(name, { shape: variable.shape, data: new Float32Array(data) });
  }
  return values;
}

export function disposeParameters(parameters: Parameters): void {
  for (const variable of parameters.values()) variable.dispose();
  if (parameters.adapter !== undefined) disposeAdapter(parameters.adapter);
}

/** A parameter that the model's code asks for; absence is a defect of ours, not of the checkpoint. */
export function parameter(parameters: Parameters, name: string): tf.Variable {
  const variable = parameters.get(name);
  if (variable === undefined) throw new RangeError(`the model has no parameter "${name}"`);
  return variable;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);

function listed(label: string, names: string[]): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, 5).join('; ');
  return [`  ${label} (${names.length}): ${shown}${names.length > 5 ? '; ...' : ''}`];
}
