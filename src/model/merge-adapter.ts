import { CheckpointError, type Progress, silentProgress } from '../core/index.ts';
import { type TensorStream, TRAINING_IMAGES_FILE } from '../formats/index.ts';
import { baseOf, loadAnyModelFormat, readSeenImages } from './adapted-model.ts';
import { requireEmpty } from './checkpoint-convert.ts';
import { baseFingerprint } from './checkpoint-fingerprint.ts';
import { countNotFinite, notFinite } from './checkpoint-load.ts';
import { type FolderFile, formatFiles, type SaveOptions, saveWeights } from './checkpoint-save.ts';
import { type StoredWeights, withWeights } from './checkpoint-weights.ts';
import { mergedWeight } from './lora/merge.ts';
import { type AdapterMatrices, isAdapterFolder, readAdapter } from './lora/peft-files.ts';
import { loraScaling } from './lora/settings.ts';
import { styleFor } from './parameters.ts';

export interface MergeOptions extends SaveOptions {
  progress?: Progress;
  /** Stops the merge, which leaves nothing behind. */
  signal?: AbortSignal;
}

/**
 * Writes the model that an adapter and its base are together, as one folder without an adapter. One tensor is in
 * memory at a time. CheckpointError for a folder that is no adapter or does not fit its base, ConfigError where the
 * output folder holds anything.
 */
export async function mergeAdapter(
  folder: string,
  output: string,
  options: MergeOptions = {},
): Promise<void> {
  const { dtype = 'BF16', progress = silentProgress, signal } = options;
  if (!(await isAdapterFolder(folder))) {
    throw new CheckpointError(`${folder} is no adapter: it has no adapter_config.json`, {
      hint: 'give the folder that a training with lora wrote, or one of PEFT',
    });
  }
  await requireEmpty(output);
  const format = await loadAnyModelFormat(folder);
  const base = baseOf(format);
  const matrices = await readAdapter(folder, format.config, await baseFingerprint(base));
  const files: FolderFile[] = [...formatFiles(format, dtype)];
  const seen = await readSeenImages(folder);
  if (seen !== null) files.push([TRAINING_IMAGES_FILE, `${JSON.stringify(seen)}\n`]);
  await withWeights(base, format.config, async (weights) => {
    progress.start('tensors', weights.tensors.size);
    let done = 0;
    const tensors = [...weights.tensors].map(
      ([name, { shape }]): TensorStream => ({
        name,
        shape,
        async *values() {
          signal?.throwIfAborted();
          yield await merged(weights, name, matrices);
          progress.update(++done);
        },
      }),
    );
    const metadata = { ...weights.metadata, ...matrices.metadata, ...options.metadata };
    try {
      const names = styleFor(format.config, options.names);
      await saveWeights(tensors, files, output, { ...options, dtype, names, metadata });
    } finally {
      progress.stop();
    }
  });
}

async function merged(
  weights: StoredWeights,
  name: string,
  matrices: AdapterMatrices,
): Promise<Float32Array> {
  const weight = await weights.read(name);
  const bad = countNotFinite(weight.data);
  if (bad > 0) throw notFinite(weights.folder, [`  ${name}: ${bad} of ${weight.data.length}`]);
  const pair = matrices.pairs.get(name.replace(/\.weight$/, ''));
  if (pair === undefined || !name.endsWith('.weight')) return weight.data;
  return mergedWeight(weight, pair.down, pair.up, loraScaling(matrices)).data;
}
