import { join } from 'node:path';
import { type FloatType, SafetensorsFile } from '../formats/index.ts';
import { baseOf, loadAnyModelFormat, readSeenImages } from './adapted-model.ts';
import type { AnyModelFormat, ModelFormat } from './checkpoint.ts';
import { isWeightFile, namesIn } from './checkpoint-files.ts';
import { baseFingerprint } from './checkpoint-fingerprint.ts';
import { withWeights } from './checkpoint-weights.ts';
import { type AnyModelConfig, MODEL_FAMILIES, type TextConfig, type VisionConfig } from './config.ts';
import { imageTokenCount } from './image-processor.ts';
import { ADAPTER_WEIGHTS_FILE, requireAdapterFits } from './lora/peft-files.ts';
import { EMBEDDING_NAME, HEAD_NAME, parameterShapes, sizeOf } from './parameters.ts';
import { visionTokenIds } from './sequence.ts';
import { smartResize } from './smart-resize.ts';

/** The parts whose parameters are counted; a tied head has none of its own, a language model no tower and merger. */
export const MODEL_PARTS = ['vision tower', 'merger', 'embedding', 'language model', 'head'] as const;
export type ModelPart = (typeof MODEL_PARTS)[number];
const VISION_PARTS: readonly ModelPart[] = ['vision tower', 'merger'];

export interface StoredSize {
  /** Bytes of values in the files. */
  bytes: number;
  /** Types that the values are stored in; several where tensors differ. */
  dtypes: FloatType[];
}

/** What a model folder holds, from its small files and the headers of its weights. */
export interface ModelInspection {
  folder: string;
  /** Where the weights under an adapter come from; null for a model of its own. */
  base: string | null;
  /** Parameters of the adapter, null without one. */
  adapterParameters: number | null;
  /** What people call such models. */
  family: string;
  config: { vision: VisionConfig | null; text: TextConfig };
  parameters: number;
  parts: { part: ModelPart; parameters: number; stored: StoredSize | null }[];
  /** Null for a folder without weights, such as a preset. */
  weights: (StoredSize & { files: number }) | null;
  tokens: { vocabulary: number; special: { token: string; id: number }[]; template: string };
  /** Null for a model that reads text alone. */
  images: ModelImages | null;
  provenance: {
    /** Strings in the header of the weights: stage, step, versions. */
    metadata: Readonly<Record<string, string>>;
    /** Null where the folder has no list of the images it was trained on. */
    trainingImages: { complete: boolean; distinct: number; stages: TrainedOn[] } | null;
  };
}

/** How a model looks at pictures. */
export interface ModelImages {
  minPixels: number;
  maxPixels: number;
  /** Most tokens that one picture can take. */
  mostTokens: number;
  views: ModelFormat['processor']['views'];
  examples: { width: number; height: number; shown: string; tokens: number }[];
}

export interface TrainedOn {
  stage: string;
  dataset: string;
  use: string;
  images: number;
}

/**
 * Looks into a model folder, or an adapter's. Of the weights only headers are read and, to tell whether an adapter was
 * trained on this base, the first values of each tensor: it takes as long for 16 GB as for 4 MB. CheckpointError for
 * what cannot be used: weights that are not those of config.json, an adapter that does not fit its base.
 */
export async function inspectModel(folder: string): Promise<ModelInspection> {
  const format = await loadAnyModelFormat(folder);
  const { vision, text, type } = format.config;
  const { parts, ...weights } = await inspectWeights(baseOf(format), format.config);
  const adapter =
    format.base === undefined
      ? null
      : await inspectAdapter(
          format,
          weights.stored === null ? undefined : await baseFingerprint(format.base),
        );
  return {
    folder,
    base: format.base ?? null,
    adapterParameters: adapter?.parameters ?? null,
    family: MODEL_FAMILIES[type],
    config: { vision, text },
    parameters: parts.reduce((sum, { parameters }) => sum + parameters, 0),
    parts,
    weights: weights.stored,
    tokens: inspectTokens(format),
    images: format.processor === null ? null : inspectImages(format),
    provenance: {
      metadata: adapter?.metadata ?? weights.metadata,
      trainingImages: await inspectTrainingImages(folder),
    },
  };
}

function partOf(name: string): ModelPart {
  if (name.startsWith('visual.merger.')) return 'merger';
  if (name.startsWith('visual.')) return 'vision tower';
  if (name === EMBEDDING_NAME) return 'embedding';
  return name === HEAD_NAME ? 'head' : 'language model';
}

async function inspectWeights(
  folder: string,
  config: AnyModelConfig,
): Promise<{
  parts: ModelInspection['parts'];
  stored: ModelInspection['weights'];
  metadata: Readonly<Record<string, string>>;
}> {
  const own = MODEL_PARTS.filter((part) => config.vision !== null || !VISION_PARTS.includes(part));
  const counts = new Map(own.map((part) => [part, 0]));
  for (const [name, shape] of parameterShapes(config)) {
    counts.set(partOf(name), counts.get(partOf(name))! + sizeOf(shape));
  }
  const partsWith = (storedOf: (part: ModelPart) => StoredSize | null): ModelInspection['parts'] =>
    own.map((part) => ({ part, parameters: counts.get(part)!, stored: storedOf(part) }));
  if (!(await namesIn(folder)).some(isWeightFile)) {
    return { parts: partsWith(() => null), stored: null, metadata: {} };
  }
  return withWeights(folder, config, async ({ tensors, files, metadata }) => {
    const entries = [...tensors].map(([name, { bytes, dtype }]) => ({ part: partOf(name), bytes, dtype }));
    const size = (chosen: typeof entries): StoredSize => ({
      bytes: chosen.reduce((sum, { bytes }) => sum + bytes, 0),
      dtypes: [...new Set(chosen.map(({ dtype }) => dtype))].sort(),
    });
    return {
      parts: partsWith((part) => size(entries.filter((entry) => entry.part === part))),
      stored: { ...size(entries), files: files.length },
      metadata,
    };
  });
}

async function inspectAdapter(
  { folder, config }: AnyModelFormat,
  fingerprint: string | undefined,
): Promise<{ parameters: number; metadata: Readonly<Record<string, string>> }> {
  await requireAdapterFits(folder, config, fingerprint);
  const file = await SafetensorsFile.open(join(folder, ADAPTER_WEIGHTS_FILE));
  await file.close();
  const sizes = [...file.tensors.values()].map(({ shape }) => sizeOf(shape));
  return { parameters: sizes.reduce((sum, size) => sum + size, 0), metadata: file.metadata };
}

function inspectTokens({ config, tokenizer, chatTemplate }: AnyModelFormat): ModelInspection['tokens'] {
  const { bos, pad } = config.tokens;
  const ids = [...tokenizer.endOfSequenceIds, bos, pad, ...visionTokenIds(config)];
  const distinct = [...new Set(ids.filter((id) => id !== undefined))].sort((a, b) => a - b);
  return {
    vocabulary: tokenizer.vocabularySize,
    special: distinct.map((id) => ({ token: tokenizer.decode([id], { keepSpecial: true }), id })),
    template: chatTemplate.render([
      {
        role: 'user',
        content: config.vision === null ? 'TEXT' : [{ type: 'image' }, { type: 'text', text: 'TEXT' }],
      },
    ]),
  };
}

/** Sizes that people have: a thumbnail, a phone's screenshot upright, video frames, photographs. */
const EXAMPLE_SIZES = [
  [224, 224],
  [512, 384],
  [1024, 768],
  [1080, 2340],
  [1920, 1080],
  [4000, 3000],
] as const;

function inspectImages({ processor, config }: ModelFormat): ModelImages {
  const { minPixels, maxPixels, views, patchSize, mergeSize } = processor;
  const factor = patchSize * mergeSize;
  const tokensOf = (width: number, height: number): number =>
    imageTokenCount({ h: height / patchSize, w: width / patchSize }, config.vision.spatialMergeSize);
  return {
    minPixels,
    maxPixels,
    mostTokens: views === null ? Math.floor(maxPixels / factor ** 2) : tokensOf(views.crop, views.crop),
    views,
    examples: EXAMPLE_SIZES.map(([width, height]) => {
      const size =
        views === null
          ? smartResize(height, width, { factor, minPixels, maxPixels })
          : { width: views.crop, height: views.crop };
      const shown = `${size.width}x${size.height}`;
      return { width, height, shown, tokens: tokensOf(size.width, size.height) };
    }),
  };
}

async function inspectTrainingImages(
  folder: string,
): Promise<ModelInspection['provenance']['trainingImages']> {
  const training = await readSeenImages(folder);
  if (training === null) return null;
  return {
    complete: training.complete,
    distinct: new Set(training.stages.flatMap(({ images }) => images)).size,
    stages: training.stages.map(({ stage, dataset, use, images }) => ({
      stage,
      dataset,
      use,
      images: images.length,
    })),
  };
}
