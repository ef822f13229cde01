import { ConfigError } from '../../core/index.ts';
import { ExternalData, MOST_INLINE_BYTES } from '../../engine/index.ts';
import type { ModelConfig } from '../config.ts';
import { parameterShapes, sizeOf } from '../parameters.ts';

/** When weights lie beside the ONNX files instead of inside. */
export const EXTERNAL_DATA_RULES = ['auto', 'always', 'never'] as const;
export type ExternalDataRule = (typeof EXTERNAL_DATA_RULES)[number];

export const EXTERNAL_DATA_FILE = 'weights.data';

/**
 * `auto`: from here on inside costs too much. Both files hold the language model, and each is put together in memory
 * before it is written.
 */
export const LEAST_EXTERNAL_BYTES = 500e6;

/** Smaller tensors stay inside: biases, gains, tables. */
export const SMALLEST_EXTERNAL_TENSOR = 65_536;

/**
 * Where the weights of an export go: a file beside the models, or undefined for inside. ConfigError for `never` and
 * a model that no ONNX file holds.
 *
 * @param promptTokens the causal mask over them is stored as well
 */
export function externalDataFor(
  { config, folder }: { config: ModelConfig; folder: string },
  promptTokens: number,
  { rule, smallestTensor }: { rule: ExternalDataRule; smallestTensor: number },
): ExternalData | undefined {
  const values = [...parameterShapes(config).values()].reduce((sum, shape) => sum + sizeOf(shape), 0);
  const bytes = 4 * (values + promptTokens ** 2);
  if (rule === 'never' && bytes > MOST_INLINE_BYTES) {
    throw new ConfigError(
      `${folder} needs ${(bytes / 1e9).toFixed(1)} GB as 32-bit floats, at most ${MOST_INLINE_BYTES / 1e9} GB go into an ONNX file`,
      { hint: `let its weights lie in ${EXTERNAL_DATA_FILE} beside the files: --external-data auto` },
    );
  }
  const inside = rule === 'never' || (rule === 'auto' && bytes < LEAST_EXTERNAL_BYTES);
  return inside
    ? undefined
    : new ExternalData({ location: EXTERNAL_DATA_FILE, smallestBytes: smallestTensor });
}
