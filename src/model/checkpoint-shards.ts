import { type FloatType, storedBytes, type TensorStream } from '../formats/index.ts';
import { shardName, WEIGHTS_FILE } from './checkpoint-files.ts';

/** transformers' own limit for one file, 5 GB. */
export const DEFAULT_SHARD_BYTES = 5e9;

export interface Shard {
  file: string;
  tensors: readonly TensorStream[];
}

/**
 * Divides tensors, in their order, into files of at most `maxBytes` of values; a larger tensor gets a file of its
 * own. One file is named model.safetensors, several are numbered.
 */
export function planShards(tensors: readonly TensorStream[], dtype: FloatType, maxBytes: number): Shard[] {
  const groups: TensorStream[][] = [];
  let filled = Number.POSITIVE_INFINITY;
  for (const tensor of tensors) {
    const bytes = storedBytes(tensor.shape, dtype);
    if (filled + bytes > maxBytes) {
      groups.push([]);
      filled = 0;
    }
    groups.at(-1)!.push(tensor);
    filled += bytes;
  }
  return groups.map((group, i) => ({
    file: groups.length === 1 ? WEIGHTS_FILE : shardName(i + 1, groups.length),
    tensors: group,
  }));
}

/** The text of model.safetensors.index.json for these shards, keys sorted as transformers sorts them. */
export function shardIndex(shards: readonly Shard[], dtype: FloatType): string {
  const places = shards.flatMap(({ file, tensors }) => tensors.map(({ name }) => [name, file] as const));
  const sizes = shards.flatMap(({ tensors }) => tensors.map(({ shape }) => storedBytes(shape, dtype)));
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const metadata = { total_parameters: total / storedBytes([1], dtype), total_size: total };
  const sorted = places.sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ metadata, weight_map: Object.fromEntries(sorted) }, null, 2)}\n`;
}
