import type { TensorStream } from '../formats/index.ts';
import { loadModelFormat } from './adapted-model.ts';
import { formatFiles, type SaveOptions, saveWeights } from './checkpoint-save.ts';
import { withWeights } from './checkpoint-weights.ts';

/** Writes what `saveModel` of the loaded model would write, with one tensor in memory at a time. */
export async function copyModel(folder: string, output: string, options: SaveOptions): Promise<void> {
  const format = await loadModelFormat(folder);
  await withWeights(folder, format.config, async (weights) => {
    const tensors = [...weights.tensors].map(
      ([name, { shape }]): TensorStream => ({
        name,
        shape,
        async *values() {
          yield (await weights.read(name)).data;
        },
      }),
    );
    await saveWeights(tensors, formatFiles(format, options.dtype ?? 'BF16'), output, options);
  });
}
