/** The models of scripts/reference/record-qwen-parity.py, made again from their names, and what it recorded. */
import { readFile } from 'node:fs/promises';
import type { RgbImage, Tokenizer, TokenRole } from '../../src/core/index.ts';
import {
  type AnyModelConfig,
  type GeneratingModel,
  type Grid,
  type ImageProcessorConfig,
  loadParameters,
  type ProcessedImage,
  parameterShapes,
  parseAnyModelConfig,
  parseProcessorConfig,
  preprocess,
  type Sequence,
} from '../../src/model/index.ts';

export const PARITY_MODELS = [
  'odd-grids',
  'three-images',
  'text-only',
  'released-sizes',
  'full-attention',
  'faint-picture',
  'qwen2-vl',
  'qwen2-vl-tied',
  'qwen2',
  'qwen2-tied',
] as const;

/** Those that are recorded without a picture. */
export const WITHOUT_PICTURES: readonly string[] = ['text-only', 'qwen2', 'qwen2-tied'];

interface RecordedSequence {
  tokenIds: number[];
  /** Indices of its images. */
  images: number[];
  /** The first token that is trained on; those before it are the prompt of the greedy text. */
  answer: number;
  positions: [number[], number[], number[]];
  ropeDelta: number;
  /** [length, vocabulary] */
  logits: string;
  greedy: { tokenIds: number[]; logProbabilities: string };
}

export interface ParityReference {
  config: unknown;
  /** Null for a language model alone. */
  processor: unknown;
  /** Faint ones are almost the processor's mean colour. */
  images: { height: number; width: number; faint?: boolean }[];
  grids: [number, number, number][];
  sequences: RecordedSequence[];
  /** Per image, [tokens, hidden]. */
  features: string[];
  loss: number;
  /** Every step-th value of the flattened gradient of the mean loss per answer token. */
  gradients: Record<string, { norm: number; step: number; values: string }>;
}

export interface ParityModel {
  reference: ParityReference;
  model: GeneratingModel;
  processor: ImageProcessorConfig | null;
  images: ProcessedImage[];
}

const END_OF_TEXT = 56;
const TURN_END = 57;
const SPECIAL_FROM = 56;

export const readParityReference = async (name: string): Promise<ParityReference> =>
  JSON.parse(
    await readFile(new URL(`./fixtures/qwen-parity/${name}.json`, import.meta.url), 'utf8'),
  ) as ParityReference;

/** The model of a reference on the backend that is running. */
export async function loadParityModel(name: string): Promise<ParityModel> {
  const reference = await readParityReference(name);
  const config = parseAnyModelConfig(reference.config);
  const processor = reference.processor === null ? null : parseProcessorConfig(reference.processor);
  const images = reference.images.map(({ height, width, faint }, index) =>
    preprocess(namedPicture(`${name} image ${index}`, width, height, faint), processor!),
  );
  const parameters = loadParameters(config, namedWeights(config));
  return { reference, model: { config, parameters, tokenizer }, processor, images };
}

/** Sequences with their answers as actions, the images among them. */
export const paritySequences = ({ reference, images }: ParityModel): Sequence[] =>
  reference.sequences.map(({ tokenIds, answer, images: own }) => ({
    tokenIds,
    roles: tokenIds.map((_, i): TokenRole => (i < answer ? 'prompt' : 'action')),
    images: own.map((index) => images[index]!),
  }));

/** The prompts alone, as they are generated from. */
export const parityPrompts = (loaded: ParityModel): Sequence[] =>
  paritySequences(loaded).map((sequence, i) => {
    const { answer } = loaded.reference.sequences[i]!;
    return {
      ...sequence,
      tokenIds: sequence.tokenIds.slice(0, answer),
      roles: sequence.roles.slice(0, answer),
    };
  });

export const gridsOf = (images: readonly ProcessedImage[]): Grid[] => images.map(({ grid }) => grid);

export function unpacked(base64: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Float32Array(bytes.buffer);
}

/** The largest difference of two arrays as a share of the root mean square of the expected one. */
export function relativeDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length || expected.length === 0) return Number.POSITIVE_INFINITY;
  let largest = 0;
  let squares = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    if (!(difference <= largest)) largest = difference; // NaN is kept
    squares += expected[i]! ** 2;
  }
  return largest / Math.sqrt(squares / expected.length);
}

/**
 * Whole numbers from -128 to 127 that belong to a name: the mixing of MurmurHash3 over the position, started by
 * FNV-1a of the name.
 */
function namedNumbers(name: string, count: number): Int32Array {
  let seed = 2166136261;
  for (const byte of Buffer.from(name)) seed = Math.imul(seed ^ byte, 16777619);
  return Int32Array.from({ length: count }, (_, i) => {
    let h = (Math.imul(i, 0x9e3779b1) + seed) | 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return ((h ^ (h >>> 16)) >>> 24) - 128;
  });
}

function namedWeights(config: AnyModelConfig): Map<string, { shape: number[]; data: Float32Array }> {
  return new Map(
    [...parameterShapes(config)].map(([name, shape]) => {
      const gain = shape.length === 1 && name.endsWith('.weight');
      const scale = name.includes('embed_tokens') || name.includes('lm_head') ? 128 : 512;
      const count = shape.reduce((product, side) => product * side, 1);
      const data = Float32Array.from(namedNumbers(name, count), (k) => (gain ? 1 + k / 512 : k / scale));
      return [name, { shape, data }];
    }),
  );
}

const MEAN_COLOUR = [123, 117, 104];

export const namedPicture = (name: string, width: number, height: number, faint = false): RgbImage => ({
  width,
  height,
  data: Uint8Array.from(namedNumbers(name, width * height * 3), (k, i) =>
    faint ? MEAN_COLOUR[i % 3]! + (k & 1) : k + 128,
  ),
});

/** One character per plain token; the last eight ids are special. */
const tokenizer: Tokenizer = {
  vocabularySize: 64,
  endOfSequenceIds: [TURN_END, END_OF_TEXT],
  padId: END_OF_TEXT,
  encode: (text) => [...text].map((character) => character.charCodeAt(0) - 48),
  decode: (ids, options) =>
    ids
      .map((id) => {
        if (id < SPECIAL_FROM) return String.fromCharCode(48 + id);
        return options?.keepSpecial === true ? `<${id}>` : '';
      })
      .join(''),
  tokenId: () => undefined,
};
