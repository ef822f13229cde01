import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, sha256OfFile } from '../core/index.ts';
import { baseFolderOf, isAdapterFolder } from './lora/peft-files.ts';

/**
 * SHA-256 of the weights in a folder: of model.safetensors; of shards, that of the lines "name hash" of all; of an
 * adapter, that of the adapter's lines and one for its base.
 */
export async function weightsSha256(folder: string): Promise<string> {
  const adapted = await isAdapterFolder(folder);
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.safetensors')).sort();
  } catch (error) {
    throw asStorageError(error, `reading ${folder}`);
  }
  if (!adapted && names.includes('model.safetensors')) return sha256OfFile(join(folder, 'model.safetensors'));
  const lines: string[] = [];
  for (const name of names) lines.push(`${name} ${await sha256OfFile(join(folder, name))}\n`);
  if (adapted) lines.push(`base ${await weightsSha256(await baseFolderOf(folder))}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}
