import { checkpointed, rotate, tf } from '../engine/index.ts';
import type { Checkpointing } from './checkpointing.ts';
import type { VisionConfig } from './config.ts';
import {
  attention,
  halfTables,
  layerNorm,
  linear,
  quickGelu,
  type Rotary,
  rmsNorm,
  swiGlu,
} from './layers.ts';
import { type Parameters, parameter } from './parameters.ts';
import type { VisionPlan } from './vision-plan.ts';

/** Fixed in the architectures, not in config.json. */
const NORM_EPSILON = 1e-6;

const NORMS = { rms: rmsNorm, layer: layerNorm } as const;
const MLPS = { swiglu: swiGlu, 'quick-gelu': quickGelu } as const;

/**
 * The vision tower of Qwen2.5-VL (technical report, section 2.1.1) or Qwen2-VL (section 2.1) on images of one grid.
 *
 * @param patches [B * N, rowLength] in plan order (`stackPatches`)
 * @returns image tokens [B, N / merge^2, outHiddenSize] in raster order
 */
export function visionForward(
  parameters: Parameters,
  config: VisionConfig,
  plan: VisionPlan,
  patches: tf.Tensor2D,
  checkpointing?: Checkpointing,
): tf.Tensor3D {
  const batch = patches.shape[0] / plan.patches;
  const headSize = config.hiddenSize / config.heads;
  const [norm, mlp] = [NORMS[config.norm], MLPS[config.mlp]];
  const tables: [number, number] = [plan.patches, headSize];
  const rotary = halfTables({ cos: tf.tensor2d(plan.cos, tables), sin: tf.tensor2d(plan.sin, tables) });
  const kernel = parameter(parameters, 'visual.patch_embed.proj.weight');
  const flat = tf.reshape(kernel, [config.hiddenSize, patches.shape[1]]) as tf.Tensor2D;
  let x: tf.Tensor2D = tf.matMul(patches, flat, false, true);
  const uses = [rotary.cos, rotary.sin];
  for (let i = 0; i < config.depth; i++) {
    const name = `visual.blocks.${i}`;
    const whole = config.fullAttentionBlocks.includes(i);
    const run = (input: tf.Tensor2D, [cos, sin]: readonly tf.Tensor[]): tf.Tensor2D => {
      const turned = { cos: cos as tf.Tensor2D, sin: sin as tf.Tensor2D };
      const normed = norm(parameters, `${name}.norm1`, input, NORM_EPSILON);
      const attended = tf.add(
        input,
        visionAttention(parameters, `${name}.attn`, config, plan, batch, normed, turned, whole),
      ) as tf.Tensor2D;
      const second = norm(parameters, `${name}.norm2`, attended, NORM_EPSILON);
      return tf.add(attended, mlp(parameters, `${name}.mlp`, second));
    };
    x = checkpointing === undefined ? run(x, uses) : checkpointed(run, x, uses, checkpointing(`${name}.`));
  }
  return merge(parameters, config, plan, batch, x);
}

/** Self-attention of a block, over the whole image or inside each window. x and result are [B * N, hidden]. */
function visionAttention(
  parameters: Parameters,
  name: string,
  config: VisionConfig,
  plan: VisionPlan,
  batch: number,
  x: tf.Tensor2D,
  rotary: Rotary<tf.Tensor2D>,
  whole: boolean,
): tf.Tensor2D {
  const { heads, hiddenSize } = config;
  const n = plan.patches;
  const size = hiddenSize / heads;
  const qkv = tf.reshape(linear(parameters, `${name}.qkv`, x), [batch, n, 3, heads, size]);
  const unrotated = tf.reshape(tf.slice(qkv, [0, 0, 0, 0, 0], [batch, n, 2, heads, size]), [
    batch,
    n,
    2 * heads,
    size,
  ]);
  const rotated = rotate(unrotated as tf.Tensor4D, rotary.cos, rotary.sin);
  const qk = tf.reshape(rotated, [batch, n, 2, heads, size]);
  const v = tf.slice(qkv, [0, 0, 2, 0, 0], [batch, n, 1, heads, size]);
  const groups = whole ? [{ start: 0, windows: 1, length: n }] : plan.groups;
  const outputs = groups.map(({ start, windows, length }) => {
    // [B, windows * length, k, heads, size] -> k tensors [B * windows, heads, length, size]
    const split = (t: tf.Tensor, index: number): tf.Tensor4D => {
      const part = tf.slice(t, [0, start, index, 0, 0], [batch, windows * length, 1, heads, size]);
      return tf.transpose(tf.reshape(part, [batch * windows, length, heads, size]), [0, 2, 1, 3]);
    };
    const mixed = attention(split(qk, 0), split(qk, 1), split(v, 0));
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch, windows * length, hiddenSize]);
  });
  const joined = outputs.length === 1 ? outputs[0]! : tf.concat(outputs, 1);
  return linear(parameters, `${name}.proj`, tf.reshape(joined, [batch * n, hiddenSize]));
}

/** Joins the patches of a merge unit to one token, projects it, and restores the raster order. */
function merge(
  parameters: Parameters,
  config: VisionConfig,
  plan: VisionPlan,
  batch: number,
  x: tf.Tensor2D,
): tf.Tensor3D {
  const unit = config.spatialMergeSize ** 2;
  const normed = NORMS[config.norm](parameters, 'visual.merger.ln_q', x, NORM_EPSILON);
  const units = tf.reshape(normed, [batch * plan.tokens, unit * config.hiddenSize]) as tf.Tensor2D;
  const hidden = gelu(linear(parameters, 'visual.merger.mlp.0', units));
  const tokens = linear(parameters, 'visual.merger.mlp.2', hidden);
  const rows = new Int32Array(batch * plan.tokens);
  for (let b = 0; b < batch; b++) {
    for (let i = 0; i < plan.tokens; i++) rows[b * plan.tokens + i] = b * plan.tokens + plan.restore[i]!;
  }
  const raster = tf.gather(tokens, tf.tensor1d(rows, 'int32'));
  return tf.reshape(raster, [batch, plan.tokens, config.outHiddenSize]);
}

/** x * Phi(x) with the exact normal distribution function. */
function gelu(x: tf.Tensor2D): tf.Tensor2D {
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));
}
