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
