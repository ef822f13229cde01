import { CheckpointError } from '../core/index.ts';
import type { TensorData } from '../formats/index.ts';
import { type StoredWeights, withWeights } from './checkpoint-weights.ts';
import type { AnyModelConfig } from './config.ts';
import { disposeParameters, EMBEDDING_NAME, type Parameters, sizeOf, variableOf } from './parameters.ts';

/**
 * Reads the weights of a folder into variables, one tensor after the other. Names and shapes are checked before
 * anything is read. CheckpointError where they do not fit, or where a value is NaN or infinite.
 */
export async function loadWeights(folder: string, config: AnyModelConfig): Promise<Parameters> {
  const parameters: Parameters = new Map();
  try {
    await eachWeight(folder, config, (name, tensor) => parameters.set(name, variableOf(tensor)));
  } catch (error) {
    disposeParameters(parameters);
    throw error;
  }
  return parameters;
}

/** All weights of a folder as arrays, by released name. Errors as `loadWeights`. */
export async function readWeights(folder: string, config: AnyModelConfig): Promise<Map<string, TensorData>> {
  const values = new Map<string, TensorData>();
  await eachWeight(folder, config, (name, tensor) => values.set(name, tensor));
  return values;
}

async function eachWeight(
  folder: string,
  config: AnyModelConfig,
  take: (name: string, tensor: TensorData) => void,
): Promise<void> {
  await withWeights(folder, config, async (weights) => {
    await requireTiedHead(weights);
    const bad: string[] = [];
    for (const name of weights.tensors.keys()) {
      const tensor = await weights.read(name);
      const count = countNotFinite(tensor.data);
      if (count > 0) bad.push(`  ${name}: ${count} of ${tensor.data.length}`);
      take(name, tensor);
    }
    if (bad.length > 0) throw notFinite(folder, bad);
  });
}

export function countNotFinite(values: Float32Array): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) count++;
  return count;
}

/** A NaN among the weights would make every score NaN, far from its cause. */
export function notFinite(folder: string, bad: readonly string[]): CheckpointError {
  return new CheckpointError(
    `${folder} holds weights that are NaN or infinite, in ${bad.length} tensor(s):\n${bad.slice(0, 5).join('\n')}`,
    { hint: 'the file is damaged or its training diverged: take another checkpoint' },
  );
}

const COMPARED_VALUES = 2 ** 20;

/** CheckpointError where a second copy of a tied head is not the embedding: one of the two would be lost. */
export async function requireTiedHead(weights: StoredWeights): Promise<void> {
  const { tiedHead: head, folder } = weights;
  if (head === undefined) return;
  const size = sizeOf(head.shape);
  const [embedded, stored] = [0, 1].map(() => new Float32Array(Math.min(COMPARED_VALUES, size))) as [
    Float32Array,
    Float32Array,
  ];
  for (let at = 0; at < size; at += COMPARED_VALUES) {
    const length = Math.min(COMPARED_VALUES, size - at);
    await weights.readInto(EMBEDDING_NAME, embedded.subarray(0, length), at);
    await head.file.readInto(head.name, stored.subarray(0, length), at);
    if (stored.subarray(0, length).every((value, i) => Object.is(value, embedded[i]))) continue;
    throw new CheckpointError(
      `${folder} ties the head to the embedding (tie_word_embeddings), but stores a head that differs from it`,
      { hint: 'set tie_word_embeddings to false in config.json if the model was trained untied' },
    );
  }
}
