import { type ExportDims, type ExternalData, exportGraph, tf } from '../../engine/index.ts';
import type { VisionLanguageModel } from '../checkpoint.ts';
import { forward } from '../forward.ts';
import { textRotary } from '../generate-step.ts';
import type { ProcessedImage } from '../image-processor.ts';
import { attention } from '../layers.ts';
import type { Batch } from '../sequence.ts';
import { causalAttention, embed, languageForward, languageHead } from '../text.ts';
import { visionForward } from '../vision.ts';
import { visionPlan } from '../vision-plan.ts';

/** A picture under one question: logits of the first token, keys and values of the prompt. */
export function promptGraph(
  model: VisionLanguageModel,
  batch: Batch,
  { grid, patches }: ProcessedImage,
  external?: ExternalData,
): Uint8Array {
  const { config, parameters } = model;
  const { layers, keyValueHeads, headSize, vocabularySize, hiddenSize } = config.text;
  const count = grid.w * grid.h;
  const cache: ExportDims = [1, keyValueHeads, batch.length, headSize];
  return exportGraph({
    inputs: { pixel_values: { dtype: 'float32', dims: [count, patches.length / count] } },
    parameters,
    external,
    outputs: { logits: [1, vocabularySize], ...cachesOf('present', layers, cache) },
    build: ({ pixel_values }) => {
      const plan = visionPlan(grid, config.vision);
      const ordered = tf.gather(pixel_values!, tf.tensor1d(plan.order, 'int32')) as tf.Tensor2D;
      const seen = visionForward(parameters, config.vision, plan, ordered);
      const results: Record<string, tf.Tensor> = {};
      const attend = causalAttention(batch.length, (layer, keys, values) => {
        results[`present_key_${layer}`] = keys;
        results[`present_value_${layer}`] = values;
      });
      const imageEmbeddings = tf.reshape(seen, [plan.tokens, hiddenSize]) as tf.Tensor2D;
      const hidden = forward(model, batch, { imageEmbeddings, attend });
      const last = tf.slice(
        tf.reshape(hidden, [batch.length, hiddenSize]),
        [batch.length - 1, 0],
        [1, hiddenSize],
      );
      return { logits: languageHead(parameters, config.text, last as tf.Tensor2D), ...results };
    },
  });
}

/** One token after what came before, at positions below `positions`. */
export function tokenGraph(
  model: VisionLanguageModel,
  positions: number,
  external?: ExternalData,
): Uint8Array {
  const { config, parameters } = model;
  const { layers, keyValueHeads, headSize, vocabularySize, hiddenSize } = config.text;
  const language = new Map([...parameters].filter(([name]) => !name.startsWith('visual.')));
  const past: ExportDims = [1, keyValueHeads, 'past', headSize];
  const rotary = textRotary(model, positions);
  try {
    return exportGraph({
      inputs: {
        token: { dtype: 'int32', dims: [1] },
        position: { dtype: 'int32', dims: [1] },
        ...Object.fromEntries(
          Object.entries(cachesOf('past', layers, past)).map(([name, dims]) => [
            name,
            { dtype: 'float32' as const, dims },
          ]),
        ),
      },
      parameters: language,
      external,
      outputs: {
        logits: [1, vocabularySize],
        ...cachesOf('present', layers, [1, keyValueHeads, 'past_and_one', headSize]),
      },
      build: (inputs) => {
        const results: Record<string, tf.Tensor> = {};
        const table = (all: tf.Tensor2D): tf.Tensor3D =>
          tf.reshape(tf.gather(all, inputs.position!), [1, 1, headSize]);
        const rows = tf.reshape(inputs.token!, [1, 1]) as tf.Tensor2D;
        const hidden = languageForward(
          parameters,
          config.text,
          embed(parameters, rows),
          { cos: table(rotary.cos), sin: table(rotary.sin) },
          (layer, q, k, v) => {
            const keys = tf.concat([inputs[`past_key_${layer}`] as tf.Tensor4D, k], 2);
            const values = tf.concat([inputs[`past_value_${layer}`] as tf.Tensor4D, v], 2);
            results[`present_key_${layer}`] = keys;
            results[`present_value_${layer}`] = values;
            return attention(q, keys, values);
          },
        );
        const last = tf.reshape(hidden, [1, hiddenSize]) as tf.Tensor2D;
        return { logits: languageHead(parameters, config.text, last), ...results };
      },
    });
  } finally {
    tf.dispose([rotary.cos, rotary.sin]);
  }
}

function cachesOf(when: 'past' | 'present', layers: number, dims: ExportDims): Record<string, ExportDims> {
  const names = Array.from({ length: layers }, (_, layer) => [
    `${when}_key_${layer}`,
    `${when}_value_${layer}`,
  ]);
  return Object.fromEntries(names.flat().map((name) => [name, dims]));
}
