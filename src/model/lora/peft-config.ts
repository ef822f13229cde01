import { join } from 'node:path';
import { z } from 'zod';
import { CheckpointError } from '../../core/index.ts';
import { readJsonFile } from '../config.ts';
import type { Adapter } from './adapter.ts';

export const ADAPTER_CONFIG_FILE = 'adapter_config.json';

/** Off in every adapter that can be read here: each changes the mathematics. */
const notSupported = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const unsupportedKeys = [
  'use_dora',
  'modules_to_save',
  'rank_pattern',
  'alpha_pattern',
  'lora_bias',
  'fan_in_fan_out',
  'use_qalora',
  'layer_replication',
  'trainable_token_indices',
  'target_parameters',
  'use_bdlora',
  'alora_invocation_tokens',
  'arrow_config',
  'kasa_config',
  'monteclora_config',
  'velora_config',
] as const;

/**
 * Beginnings that take their part out of the base's weights (PiSSA, OLoRA, CorDA, LoftQ, LoRA-GA): such an adapter
 * fits the changed base alone. Zeros, gaussian, orthogonal and EVA leave the base as it is.
 */
const CHANGES_BASE = /^(pissa|olora|corda|loftq|lora_ga)/i;

const configSchema = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().min(1).max(1024),
  lora_alpha: z.number().positive(),
  lora_dropout: z.number().min(0).lt(1).default(0),
  use_rslora: z.boolean().default(false),
  bias: z.literal('none').default('none'),
  base_model_name_or_path: z.string().nullish(),
  init_lora_weights: z
    .unknown()
    .optional()
    .refine((value) => typeof value !== 'string' || !CHANGES_BASE.test(value), {
      error: ({ input }) => `"${input}" changes the base's weights too, which is not supported`,
    }),
});

export interface PeftConfig {
  rank: number;
  alpha: number;
  rsLora: boolean;
  dropout: number;
  /** Folder or hub name of the model that the adapter changes; null where the file doesn't say. */
  base: string | null;
}

/** Reads adapter_config.json as PEFT (Hugging Face) writes it. CheckpointError for what is no LoRA or goes beyond it. */
export async function readPeftConfig(folder: string): Promise<PeftConfig> {
  const path = join(folder, ADAPTER_CONFIG_FILE);
  const json = await readJsonFile(path);
  const parsed = configSchema.safeParse(json);
  const problems = parsed.success
    ? unsupportedKeys
        .filter((key) => !notSupported(parsed.data[key]))
        .map((key) => `${key}: ${JSON.stringify(parsed.data[key])?.slice(0, 60)} is not supported`)
    : parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
  if (!parsed.success || problems.length > 0) {
    throw new CheckpointError(
      `${path} is not an adapter that can be read:\n${problems.map((p) => `  ${p}`).join('\n')}`,
      {
        hint: 'plain LoRA is read (one rank for all layers, bias "none"); merge other adapters with PEFT first',
      },
    );
  }
  const { r, lora_alpha, lora_dropout, use_rslora, base_model_name_or_path } = parsed.data;
  return {
    rank: r,
    alpha: lora_alpha,
    rsLora: use_rslora,
    dropout: lora_dropout,
    base: base_model_name_or_path ?? null,
  };
}

/** The three parts of the model that can be adapted, as a regular expression's beginning in every layout's names. */
const PARTS: readonly (readonly [layer: RegExp, pattern: string])[] = [
  [/^model\.layers\.\d+\.(.+)$/, '.*\\blayers\\.\\d+\\.'],
  [/^visual\.blocks\.\d+\.(.+)$/, '.*\\bvisual\\.blocks\\.\\d+\\.'],
  [/^visual\.merger\.(.+)$/, '.*\\bvisual\\.merger\\.'],
];

/**
 * A regular expression (PEFT matches it against whole names) for the adapted layers and no others: a list of last
 * names would also hit the vision tower's MLP.
 */
function targetPattern(layers: Iterable<string>): string {
  const all = [...layers];
  return PARTS.flatMap(([layer, pattern]) => {
    const names = new Set(all.flatMap((name) => layer.exec(name)?.[1] ?? []));
    if (names.size === 0) return [];
    return [`${pattern}(${[...names].sort().join('|').replaceAll('.', '\\.')})`];
  }).join('|');
}

/** The content of adapter_config.json; keys as PEFT 0.21 writes them where they are not its defaults. */
export function peftConfigOf(adapter: Adapter, base: string): Record<string, unknown> {
  return {
    base_model_name_or_path: base,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    lora_alpha: adapter.alpha,
    lora_dropout: adapter.dropout,
    modules_to_save: null,
    peft_type: 'LORA',
    r: adapter.rank,
    target_modules: targetPattern(adapter.pairs.keys()),
    task_type: 'CAUSAL_LM',
    use_dora: false,
    use_rslora: adapter.rsLora,
  };
}
