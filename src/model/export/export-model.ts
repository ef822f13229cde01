import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, type Progress, silentProgress, writeFolderAtomic } from '../../core/index.ts';
import { type ExportDims, exportGraph, tf } from '../../engine/index.ts';
import { loadModel } from '../adapted-model.ts';
import type { VisionLanguageModel } from '../checkpoint.ts';
import { requireEmpty } from '../checkpoint-convert.ts';
import { formatFiles } from '../checkpoint-save.ts';
import { forward } from '../forward.ts';
import { neverSampledTokenIds } from '../generate-sampling.ts';
import { textRotary } from '../generate-step.ts';
import type { ProcessedImage } from '../image-processor.ts';
import { attention } from '../layers.ts';
import { disposeAdapter } from '../lora/adapter.ts';
import { mergedWeight } from '../lora/merge.ts';
import { loraScaling } from '../lora/settings.ts';
import { disposeParameters, sizeOf } from '../parameters.ts';
import { promptSequence } from '../prompt.ts';
import { collate } from '../sequence.ts';
import { smartResize } from '../smart-resize.ts';
import { causalAttention, embed, languageForward, languageHead } from '../text.ts';
import { visionForward } from '../vision.ts';
import { visionPlan } from '../vision-plan.ts';

export interface ExportOptions {
  /** Size of the pictures; the processor's rule turns it into the one that is exported. */
  width: number;
  height: number;
  /** The question that stands behind the picture. */
  question: string;
  /** Tokens of an answer at most. */
  maxNewTokens: number;
  progress?: Progress;
}

export const PROMPT_FILE = 'prompt.onnx';
export const TOKEN_FILE = 'token.onnx';
export const EXPORT_FILE = 'export.json';

/** A file of protobuf holds 2 GiB, and weights beside the file are not written yet. */
const MOST_BYTES = 1.9e9;

/**
 * Writes a model as two ONNX files that ONNX Runtime runs without q-ponder: `prompt.onnx` reads a picture of one size
 * under one question, `token.onnx` an answer's tokens one by one with the keys and values of what came before. Both
 * are recordings of the functions that training and generation use. An adapter is merged. ConfigError for a model
 * too large and an output folder that holds anything.
 */
export async function exportModel(folder: string, output: string, options: ExportOptions): Promise<void> {
  const { progress = silentProgress } = options;
  await requireEmpty(output);
  const model = await loadModel(folder);
  try {
    await merge(model);
    requireExportable(model);
    const image = blankPicture(model, options);
    const question = [
      {
        role: 'user' as const,
        content: [{ type: 'image' as const }, { type: 'text' as const, text: options.question }],
      },
    ];
    const sequence = promptSequence(model, question, [image]);
    const batch = collate([sequence], model.config, { padTo: 1 });
    const length = batch.length;
    await writeFolderAtomic(output, async (target) => {
      progress.note(`${PROMPT_FILE}: ${image.grid.w}x${image.grid.h} patches, ${length} tokens`);
      await writeFile(join(target, PROMPT_FILE), promptGraph(model, batch, image));
      const first = length + batch.ropeDeltas[0]!;
      progress.note(`${TOKEN_FILE}: up to ${options.maxNewTokens} tokens`);
      await writeFile(join(target, TOKEN_FILE), tokenGraph(model, first + options.maxNewTokens));
      for (const [name, content] of formatFiles(model, 'F32')) {
        if (typeof content === 'string') await writeFile(join(target, name), content);
      }
      const { patchSize, imageMean, imageStd, mergeSize, temporalPatchSize } = model.processor;
      const facts = {
        format: 1,
        picture: {
          width: image.grid.w * patchSize,
          height: image.grid.h * patchSize,
          ...{ patchSize, mergeSize, temporalPatchSize, imageMean, imageStd },
          pixelValues: [image.grid.w * image.grid.h, image.patches.length / (image.grid.w * image.grid.h)],
        },
        question: options.question,
        promptTokenIds: sequence.tokenIds,
        /** Position of the first token of the answer; the next has one more, and so on. */
        firstPosition: first,
        maxNewTokens: options.maxNewTokens,
        endTokenIds: model.tokenizer.endOfSequenceIds,
        neverSampledTokenIds: neverSampledTokenIds(model.config, model.tokenizer),
        layers: model.config.text.layers,
        keyValueHeads: model.config.text.keyValueHeads,
        headSize: model.config.text.headSize,
        vocabulary: model.config.text.vocabularySize,
      };
      await writeFile(join(target, EXPORT_FILE), `${JSON.stringify(facts, null, 2)}\n`);
    });
  } finally {
    disposeParameters(model.parameters);
  }
}

async function merge({ parameters }: VisionLanguageModel): Promise<void> {
  const { adapter } = parameters;
  if (adapter === undefined) return;
  for (const [layer, { down, up }] of adapter.pairs) {
    const variable = parameters.get(`${layer}.weight`)!;
    const weight = { shape: variable.shape, data: (await variable.data()) as Float32Array };
    const [a, b] = [(await down.data()) as Float32Array, (await up.data()) as Float32Array];
    const { data } = mergedWeight(weight, a, b, loraScaling(adapter));
    tf.tidy(() => variable.assign(tf.tensor(data, variable.shape)));
  }
  disposeAdapter(adapter);
  parameters.adapter = undefined;
}

function requireExportable({ parameters, folder }: VisionLanguageModel): void {
  const bytes = [...parameters.values()].reduce((sum, { shape }) => sum + 4 * sizeOf(shape), 0);
  if (bytes <= MOST_BYTES) return;
  throw new ConfigError(`${folder} has ${(bytes / 1e9).toFixed(1)} GB of weights as 32-bit floats`, {
    hint: `at most ${MOST_BYTES / 1e9} GB go into an ONNX file; weights beside the file are not written yet`,
  });
}

function blankPicture({ processor }: VisionLanguageModel, { width, height }: ExportOptions): ProcessedImage {
  const { patchSize, temporalPatchSize, mergeSize, minPixels, maxPixels, views } = processor;
  const size =
    views === null
      ? smartResize(height, width, { factor: patchSize * mergeSize, minPixels, maxPixels })
      : { width: views.crop, height: views.crop };
  const grid = { w: size.width / patchSize, h: size.height / patchSize };
  return { grid, patches: new Float32Array(grid.w * grid.h * 3 * temporalPatchSize * patchSize ** 2) };
}

type Batch = ReturnType<typeof collate>;

function promptGraph(
  model: VisionLanguageModel,
  batch: Batch,
  { grid, patches }: ProcessedImage,
): Uint8Array {
  const { config, parameters } = model;
  const { layers, keyValueHeads, headSize, vocabularySize, hiddenSize } = config.text;
  const count = grid.w * grid.h;
  const cache: ExportDims = [1, keyValueHeads, batch.length, headSize];
  return exportGraph({
    inputs: { pixel_values: { dtype: 'float32', dims: [count, patches.length / count] } },
    parameters,
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

function tokenGraph(model: VisionLanguageModel, positions: number): Uint8Array {
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
