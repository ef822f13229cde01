import { InputError, type TokenRole } from '../core/index.ts';
import type { AnyModelConfig } from './config.ts';
import type { ProcessedImage } from './image-processor.ts';
import { multimodalPositions, rotaryTables } from './positions.ts';
import { requireNoPictures } from './text-only.ts';
import { stackPatches, type VisionPlan, visionPlan } from './vision-plan.ts';

/** A tokenised conversation: image-pad tokens are expanded already, one run for each entry of `images`. */
export interface Sequence {
  tokenIds: readonly number[];
  /** One per token. Only 'action' tokens carry loss and advantage. */
  roles: readonly TokenRole[];
  images: readonly ProcessedImage[];
}

/** Images of one grid, encoded together. An image used by several sequences of the batch is here once. */
export interface ImageGroup {
  plan: VisionPlan;
  count: number;
  images: readonly ProcessedImage[];
  /** [count * plan.patches, rowLength] in plan order. */
  patches: Float32Array;
}

/** The tokens to be scored, in sequence order; entries from `count` on are padding of weight 0. */
export interface ActionTokens {
  count: number;
  /** Row of [B * T] whose hidden state predicts the token (the position before it). */
  rows: Int32Array;
  tokenIds: Int32Array;
  /** Index of the sequence in the batch. */
  sequences: Int32Array;
  /** 1 for a token, 0 for padding. */
  weights: Float32Array;
}

/** A right-padded batch of B sequences of T tokens, as plain arrays. */
export interface Batch {
  size: number;
  length: number;
  lengths: Int32Array;
  /** [B, T] */
  tokenIds: Int32Array;
  /** [B, T] rows for `embed`: token ids, and vocabulary size + image row at image-pad positions. */
  inputRows: Int32Array;
  /** [B] */
  ropeDeltas: Int32Array;
  /** Rotary tables [B, T, headSize]. */
  cos: Float32Array;
  sin: Float32Array;
  images: ImageGroup[];
  actions: ActionTokens;
  /** What stands before the tokens of this batch and is run once for several of its sequences (`collateShared`). */
  prefix?: SharedPrefix;
}

export interface SharedPrefix {
  batch: Batch;
  /** [B] which sequence of `batch` each one goes on from. */
  of: Int32Array;
}

/** The pictures of a batch: where its prompts are run apart, theirs. */
export const picturesOf = ({ images, prefix }: Batch): ImageGroup[] => prefix?.batch.images ?? images;

export interface CollateOptions {
  /** T is rounded up to a multiple of this, so that compiled graphs are reused. Default 16. */
  padTo?: number;
  /** Sequences above this are an InputError: cutting one would cut its image or its answer. */
  maxLength?: number;
}

/** The action list is padded to a multiple of this many tokens per sequence, again for graph reuse. */
const ACTIONS_PER_SEQUENCE_STEP = 8;

/** Makes a batch of sequences. InputError for an image-pad mismatch, an empty or an over-long sequence. */
export function collate(
  sequences: readonly Sequence[],
  config: AnyModelConfig,
  options: CollateOptions = {},
): Batch {
  const { padTo = 16, maxLength = config.text.maxPositions } = options;
  if (sequences.length === 0) throw new InputError('a batch needs at least one sequence');
  sequences.forEach((sequence, index) => {
    checkSequence(sequence, index, maxLength, config);
  });
  const { groups, firstRows } = groupImages(
    sequences.flatMap((sequence) => sequence.images),
    config,
  );
  const starts = sequences.map(() => 0);
  return { ...layOut(sequences, starts, firstRows, config, padTo), images: groups };
}

/**
 * A batch of sequences whose prompts are few: each prompt is run once, and the answers attend to its keys and values.
 * With G answers to a prompt of n tokens this saves (G - 1) n tokens in every layer, forward and backward; hidden
 * states and gradients are those of `collate`'s batch. Where nothing would be saved it is that batch.
 *
 * @param keys one per sequence: which prompt it begins with. Sequences of one key agree up to their first action.
 */
export function collateShared(
  sequences: readonly Sequence[],
  keys: readonly string[],
  config: AnyModelConfig,
  options: CollateOptions = {},
): Batch {
  const { padTo = 16, maxLength = config.text.maxPositions } = options;
  const order = [...new Set(keys)];
  // The last token before an answer predicts its first one: it belongs to the answer's part.
  const starts = sequences.map(({ roles }) => roles.indexOf('action') - 1);
  const isPlain =
    order.length === sequences.length ||
    starts.some((start) => start < 1) ||
    // A picture among the answers has embeddings of its own, which the prompts' are not.
    (config.vision !== null &&
      sequences.some(({ tokenIds }, i) => tokenIds.indexOf(config.tokens.imagePad, starts[i]) !== -1));
  if (isPlain) return collate(sequences, config, options);
  sequences.forEach((sequence, index) => {
    checkSequence(sequence, index, maxLength, config);
  });
  const firsts = order.map((key) => keys.indexOf(key));
  const of = Int32Array.from(keys, (key) => order.indexOf(key));
  sequences.forEach((sequence, index) => {
    const first = firsts[of[index]!]!;
    requireSamePrompt(sequence, sequences[first]!, starts[first]!, index);
  });
  const prompts = firsts.map((first) => {
    const { tokenIds, roles, images } = sequences[first]!;
    return { tokenIds: tokenIds.slice(0, starts[first]), roles: roles.slice(0, starts[first]), images };
  });
  return {
    ...layOut(sequences, starts, new Map(), config, padTo),
    images: [],
    prefix: { batch: collate(prompts, config, options), of },
  };
}

/** The tokens of each sequence from a start on, at the positions that they have in the whole sequence. */
function layOut(
  sequences: readonly Sequence[],
  starts: readonly number[],
  firstRows: ReadonlyMap<ProcessedImage, number>,
  config: AnyModelConfig,
  padTo: number,
): Omit<Batch, 'images'> {
  const size = sequences.length;
  const lengths = Int32Array.from(sequences, ({ tokenIds }, b) => tokenIds.length - starts[b]!);
  const length = Math.ceil(Math.max(...lengths) / padTo) * padTo;
  const tokenIds = new Int32Array(size * length).fill(config.tokens.pad ?? config.tokens.eos[0] ?? 0);
  const inputRows = new Int32Array(size * length);
  const ropeDeltas = new Int32Array(size);
  const positions = new Int32Array(3 * size * length);
  sequences.forEach((sequence, b) => {
    const [own, start] = [sequence.tokenIds.length, starts[b]!];
    tokenIds.set(sequence.tokenIds.slice(start), b * length);
    inputRows.set(tokenIds.subarray(b * length, (b + 1) * length), b * length);
    if (start === 0) {
      placeImages(sequence, config, firstRows, inputRows.subarray(b * length, (b + 1) * length));
    }
    const grids = sequence.images.map((image) => image.grid);
    const placed = multimodalPositions(sequence.tokenIds, grids, config);
    ropeDeltas[b] = placed.ropeDelta;
    for (let axis = 0; axis < 3; axis++) {
      const from = placed.positions.subarray(axis * own + start, (axis + 1) * own);
      positions.set(from, (axis * size + b) * length);
    }
  });
  const continuations = sequences.map(({ tokenIds: ids, roles }, b) => ({
    tokenIds: ids.slice(starts[b]),
    roles: roles.slice(starts[b]),
    images: [],
  }));
  return {
    size,
    length,
    lengths,
    tokenIds,
    inputRows,
    ropeDeltas,
    ...rotaryTables(positions, config.text),
    actions: collectActions(continuations, length),
  };
}

function requireSamePrompt(sequence: Sequence, first: Sequence, length: number, index: number): void {
  const isSame =
    sequence.tokenIds.slice(0, length).every((id, t) => id === first.tokenIds[t]) &&
    sequence.roles.indexOf('action') === first.roles.indexOf('action') &&
    sequence.images.length === first.images.length &&
    sequence.images.every((image, i) => image === first.images[i]);
  if (!isSame) {
    throw new RangeError(`collateShared: sequence ${index} does not begin with the prompt of its key`);
  }
}

/** Writes the rows of a sequence's image embeddings over its image-pad tokens. */
function placeImages(
  { tokenIds, images }: Sequence,
  config: AnyModelConfig,
  firstRows: ReadonlyMap<ProcessedImage, number>,
  rows: Int32Array,
): void {
  if (config.vision === null) return;
  let at = 0;
  for (const image of images) {
    const first = config.text.vocabularySize + firstRows.get(image)!;
    at = tokenIds.indexOf(config.tokens.imagePad, at);
    const { tokens } = visionPlan(image.grid, config.vision);
    for (let k = 0; k < tokens; k++, at++) rows[at] = first + k;
  }
}

function checkSequence(sequence: Sequence, index: number, maxLength: number, config: AnyModelConfig): void {
  const { tokenIds, roles } = sequence;
  if (tokenIds.length === 0) throw new InputError(`sequence ${index} has no tokens`);
  if (roles.length !== tokenIds.length) {
    throw new InputError(`sequence ${index} has ${tokenIds.length} tokens but ${roles.length} roles`);
  }
  if (tokenIds.length > maxLength) {
    throw new InputError(
      `sequence ${index} has ${tokenIds.length} tokens, at most ${maxLength} are allowed`,
      {
        hint: 'shorten the text or lower max_pixels; sequences are never cut, which would destroy the prompt',
      },
    );
  }
  if (roles[0] === 'action') {
    throw new InputError(`sequence ${index} starts with an action token, which nothing predicts`);
  }
  for (const id of tokenIds) {
    if (!(Number.isInteger(id) && id >= 0 && id < config.text.vocabularySize)) {
      throw new InputError(
        `sequence ${index} has token id ${id}, the vocabulary is ${config.text.vocabularySize}`,
      );
    }
  }
}

/** Groups distinct images by grid; rows of the image embeddings follow the groups in order. */
export function groupImages(images: Iterable<ProcessedImage>, config: AnyModelConfig) {
  const byGrid = new Map<string, ProcessedImage[]>();
  const distinct = new Set(images);
  for (const image of distinct) {
    const key = `${image.grid.h}x${image.grid.w}`;
    const group = byGrid.get(key);
    if (group === undefined) byGrid.set(key, [image]);
    else group.push(image);
  }
  const groups: ImageGroup[] = [];
  const firstRows = new Map<ProcessedImage, number>();
  if (config.vision === null) {
    requireNoPictures(distinct.size);
    return { groups, firstRows };
  }
  let row = 0;
  for (const images of byGrid.values()) {
    const plan = visionPlan(images[0]!.grid, config.vision);
    for (const image of images) {
      firstRows.set(image, row);
      row += plan.tokens;
    }
    groups.push({ plan, count: images.length, images, patches: stackPatches(images, plan) });
  }
  return { groups, firstRows };
}

function collectActions(sequences: readonly Sequence[], length: number): ActionTokens {
  const found: { row: number; tokenId: number; sequence: number }[] = [];
  sequences.forEach(({ tokenIds, roles }, sequence) => {
    roles.forEach((role, t) => {
      if (role === 'action') found.push({ row: sequence * length + t - 1, tokenId: tokenIds[t]!, sequence });
    });
  });
  const step = sequences.length * ACTIONS_PER_SEQUENCE_STEP;
  const padded = Math.max(1, Math.ceil(found.length / step)) * step;
  const actions: ActionTokens = {
    count: found.length,
    rows: new Int32Array(padded),
    tokenIds: new Int32Array(padded),
    sequences: new Int32Array(padded),
    weights: new Float32Array(padded),
  };
  found.forEach(({ row, tokenId, sequence }, i) => {
    actions.rows[i] = row;
    actions.tokenIds[i] = tokenId;
    actions.sequences[i] = sequence;
    actions.weights[i] = 1;
  });
  return actions;
}

/** Tokens a model must never sample: they stand for pictures, or lie beyond the tokenizer. */
export function visionTokenIds(config: AnyModelConfig): number[] {
  if (config.vision === null) return [];
  const { imagePad, videoPad, visionStart, visionEnd } = config.tokens;
  return [imagePad, videoPad, visionStart, visionEnd];
}
