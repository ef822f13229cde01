import { z } from 'zod';
import { FLOAT_TYPES } from '../../formats/index.ts';
import { convertModel, NAME_STYLES } from '../../model/index.ts';
import type { Stage } from '../stage-command.ts';

const UNITS: Record<string, number> = { KB: 1e3, MB: 1e6, GB: 1e9, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30 };
const SIZE = /^([0-9]+(?:\.[0-9]+)?) ?([KMG]I?B)$/i;

/** Bytes of a size as transformers writes them: 5GB is 5e9, 5GiB is 5 x 2^30. NaN for anything else. */
export function parseSize(text: string): number {
  const [, number, unit] = SIZE.exec(text.trim()) ?? [];
  return number === undefined ? Number.NaN : Math.floor(Number(number) * UNITS[unit!.toUpperCase()]!);
}

export const modelConvertConfigSchema = z.strictObject({
  model: z.string().min(1).describe('model folder'),
  output: z.string().min(1).describe('new folder; must be empty or not exist'),
  dtype: z.enum(FLOAT_TYPES).default('BF16').describe('how weights are stored, rounded to nearest'),
  maxShardSize: z
    .string()
    .refine((text) => parseSize(text) > 0, { error: 'write a number and KB, MB, GB, KiB, MiB or GiB' })
    .default('5GB')
    .describe('most of weights in one file; more become shards with an index'),
  names: z
    .enum(NAME_STYLES)
    .default('released')
    .describe('names of the tensors: as released (read by everything), or as newer transformers have them'),
});
type ModelConvertConfig = z.infer<typeof modelConvertConfigSchema>;

export const modelConvertStage: Stage<ModelConvertConfig> = {
  schema: modelConvertConfigSchema,
  async run({ model, output, dtype, maxShardSize, names }, { progress, signal, print }) {
    const maxShardBytes = parseSize(maxShardSize);
    await convertModel(model, output, { dtype, maxShardBytes, names, progress, signal });
    print(output);
  },
};
