import { join } from 'node:path';
import { type Progress, silentProgress, writeFolderAtomic } from '../../core/index.ts';
import { type ExternalData, tf } from '../../engine/index.ts';
import { streamFile } from '../../formats/index.ts';
import { loadModel, loadModelFormat, requireModelFolder } from '../adapted-model.ts';
import type { ModelFormat, VisionLanguageModel } from '../checkpoint.ts';
import { requireEmpty } from '../checkpoint-convert.ts';
import { formatFiles } from '../checkpoint-save.ts';
import { neverSampledTokenIds } from '../generate-sampling.ts';
import type { ProcessedImage } from '../image-processor.ts';
import { disposeAdapter } from '../lora/adapter.ts';
import { mergedWeight } from '../lora/merge.ts';
import { loraScaling } from '../lora/settings.ts';
import { disposeParameters } from '../parameters.ts';
import { promptSequence } from '../prompt.ts';
import { collate } from '../sequence.ts';
import { blankPicture } from './blank-picture.ts';
import { promptGraph, tokenGraph } from './export-graphs.ts';
import { type ExternalDataRule, externalDataFor, SMALLEST_EXTERNAL_TENSOR } from './external-data.ts';

export interface ExportOptions {
  /** Size of the pictures; the processor's rule turns it into the one that is exported. */
  width: number;
  height: number;
  /** The question that stands behind the picture. */
  question: string;
  /** Tokens of an answer at most. */
  maxNewTokens: number;
  /** Whether weights lie beside the files, both reading the same ones, or inside. Default: by size (`auto`). */
  externalData?: ExternalDataRule;
  /** Bytes from which on a tensor is external, where any is. */
  smallestExternalTensor?: number;
  progress?: Progress;
  /** Stops the export, which leaves nothing behind. */
  signal?: AbortSignal;
}

export const PROMPT_FILE = 'prompt.onnx';
export const TOKEN_FILE = 'token.onnx';
export const EXPORT_FILE = 'export.json';

/**
 * Writes a model as two ONNX files that ONNX Runtime runs without q-ponder: `prompt.onnx` reads a picture of one size
 * under one question, `token.onnx` an answer's tokens one by one with the keys and values of what came before. Both
 * are recordings of the functions that training and generation use. An adapter is merged. Weights beside the files
 * are written as a stream; those inside take as much memory again while a file is written. ConfigError for a model
 * that cannot be inside and shall, and an output folder that holds anything.
 */
export async function exportModel(folder: string, output: string, options: ExportOptions): Promise<void> {
  const { progress = silentProgress, signal, maxNewTokens } = options;
  await requireEmpty(output);
  // All that can be refused is, before weights are read.
  await requireModelFolder(folder);
  const format = await loadModelFormat(folder);
  const image = blankPicture(format.processor, options);
  const sequence = promptSequence(format, questionOf(options), [image]);
  const external = externalDataFor(format, sequence.tokenIds.length, {
    rule: options.externalData ?? 'auto',
    smallestTensor: options.smallestExternalTensor ?? SMALLEST_EXTERNAL_TENSOR,
  });
  noteSize(image, format, options);
  const batch = collate([sequence], format.config, { padTo: 1 });
  const firstPosition = batch.length + batch.ropeDeltas[0]!;

  await writeFolderAtomic(output, async (target) => {
    const write = (name: string, content: string | Uint8Array): Promise<void> => {
      signal?.throwIfAborted();
      return streamFile(join(target, name), [typeof content === 'string' ? Buffer.from(content) : content]);
    };
    progress.note(`reading the weights of ${folder}`);
    const model = await loadModel(folder);
    try {
      await merge(model);
      progress.note(`${PROMPT_FILE}: ${image.grid.w}x${image.grid.h} patches, ${batch.length} tokens`);
      await write(PROMPT_FILE, promptGraph(model, batch, image, external));
      progress.note(`${TOKEN_FILE}: up to ${maxNewTokens} tokens`);
      await write(TOKEN_FILE, tokenGraph(model, firstPosition + maxNewTokens, external));
      if (external !== undefined) {
        progress.note(`${external.location}: ${(external.bytes / 1e9).toFixed(2)} GB for both`);
        await streamFile(join(target, external.location), watched(external, progress, signal));
      }
      for (const [name, content] of formatFiles(model, 'F32')) {
        if (typeof content === 'string') await write(name, content);
      }
      const { tokenIds } = sequence;
      const facts = exportFacts(format, image, { ...options, tokenIds, firstPosition, external });
      await write(EXPORT_FILE, `${JSON.stringify(facts, null, 2)}\n`);
    } finally {
      disposeParameters(model.parameters);
    }
  });
}

/** A size that the processor changes is not what was asked for: it is said once, and stands in `export.json`. */
function noteSize({ grid }: ProcessedImage, { processor }: ModelFormat, options: ExportOptions): void {
  const { width, height, progress = silentProgress } = options;
  const [w, h] = [grid.w * processor.patchSize, grid.h * processor.patchSize];
  if (w === width && h === height) return;
  progress.note(
    `pictures will have ${w}x${h} pixels: the model's processor makes that of ${width}x${height}`,
  );
}

const questionOf = ({ question }: ExportOptions) => [
  { role: 'user' as const, content: [{ type: 'image' as const }, { type: 'text' as const, text: question }] },
];

/** What a program needs to know to run the files, for `export.json`. */
function exportFacts(
  { config, processor, tokenizer }: ModelFormat,
  { grid, patches }: ProcessedImage,
  made: ExportOptions & {
    tokenIds: readonly number[];
    firstPosition: number;
    external: ExternalData | undefined;
  },
): Record<string, unknown> {
  const { patchSize, imageMean, imageStd, mergeSize, temporalPatchSize } = processor;
  return {
    format: 1,
    /** The file that the two models read their weights from; null where they hold them. */
    weights: made.external?.location ?? null,
    picture: {
      width: grid.w * patchSize,
      height: grid.h * patchSize,
      ...{ patchSize, mergeSize, temporalPatchSize, imageMean, imageStd },
      pixelValues: [grid.w * grid.h, patches.length / (grid.w * grid.h)],
    },
    question: made.question,
    promptTokenIds: made.tokenIds,
    /** Position of the first token of the answer; the next has one more, and so on. */
    firstPosition: made.firstPosition,
    maxNewTokens: made.maxNewTokens,
    endTokenIds: tokenizer.endOfSequenceIds,
    neverSampledTokenIds: neverSampledTokenIds(config, tokenizer),
    layers: config.text.layers,
    keyValueHeads: config.text.keyValueHeads,
    headSize: config.text.headSize,
    vocabulary: config.text.vocabularySize,
  };
}

function* watched(
  external: ExternalData,
  progress: Progress,
  signal: AbortSignal | undefined,
): Generator<Uint8Array> {
  progress.start('megabytes', Math.ceil(external.bytes / 1e6));
  try {
    let done = 0;
    for (const piece of external.pieces()) {
      signal?.throwIfAborted();
      yield piece;
      done += piece.length;
      progress.update(Math.ceil(done / 1e6));
    }
  } finally {
    progress.stop();
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
