import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTokenizer } from '../../scripts/build-tokenizer.ts';
import { TINY_CONFIG } from './tiny.ts';

const MINI = new URL('../../models/qwen2.5-vl-mini/', import.meta.url).pathname;
const SPECIAL_IDS = [
  'bos_token_id',
  'pad_token_id',
  'eos_token_id',
  'vision_start_token_id',
  'vision_end_token_id',
  'image_token_id',
  'video_token_id',
];

/** A folder without weights: the tiny towers with the miniature's template and a tokenizer of one sentence. */
export async function tinyFolder(changes: Record<string, unknown> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'model-'));
  const tokenizer = buildTokenizer('Rate the quality of the image.', 1);
  const first = tokenizer.added_tokens[0]!.id;
  const config = {
    ...TINY_CONFIG,
    ...Object.fromEntries(SPECIAL_IDS.map((name, i) => [name, first + i])),
    pad_token_id: first,
    vocab_size: first + SPECIAL_IDS.length,
    vision_config: { ...TINY_CONFIG.vision_config, patch_size: 14, window_size: 56 },
    a_key_we_do_not_read: [1],
    ...changes,
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  for (const name of ['tokenizer_config.json', 'preprocessor_config.json', 'generation_config.json']) {
    await cp(join(MINI, name), join(folder, name));
  }
  return folder;
}

/** Of a language model alone: contents are strings, as in the templates of Qwen2.5. */
const TEXT_TEMPLATE = `{%- if messages[0].role != 'system' -%}{{ '<|im_start|>system\\nBe brief.<|im_end|>\\n' }}{%- endif -%}
{%- for message in messages -%}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}`;

/** A folder without weights of a language model alone (model_type qwen2), and without files about pictures. */
export async function tinyTextFolder(changes: Record<string, unknown> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'model-'));
  const tokenizer = buildTokenizer('Rate the quality of the image.', 1);
  const first = tokenizer.added_tokens[0]!.id;
  const { vision_config: _, rope_scaling: __, ...language } = TINY_CONFIG;
  const config = {
    ...Object.fromEntries(Object.entries(language).filter(([name]) => !SPECIAL_IDS.includes(name))),
    model_type: 'qwen2',
    bos_token_id: first,
    eos_token_id: first + 2,
    vocab_size: first + SPECIAL_IDS.length,
    use_sliding_window: false,
    ...changes,
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  const tokenizerConfig = { tokenizer_class: 'Qwen2Tokenizer', chat_template: TEXT_TEMPLATE };
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  return folder;
}

/** A folder without weights of a Qwen2-VL: the tower without windows beside the tiny language model. */
export const tinyQwen2VlFolder = (): Promise<string> =>
  tinyFolder({
    model_type: 'qwen2_vl',
    num_attention_heads: 2,
    num_key_value_heads: 1,
    vision_config: {
      depth: 2,
      embed_dim: 16,
      mlp_ratio: 2,
      num_heads: 2,
      hidden_size: 16,
      patch_size: 14,
      temporal_patch_size: 2,
      spatial_merge_size: 2,
    },
  });

/** Changes a JSON file of a folder. */
export async function changeJson(
  folder: string,
  name: string,
  change: (json: Record<string, unknown>) => unknown,
): Promise<void> {
  const path = join(folder, name);
  const json = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFile(path, JSON.stringify(change(json)));
}
