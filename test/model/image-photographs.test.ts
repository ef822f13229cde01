/**
 * Real photographs resized as Pillow resizes them (scripts/reference/record-qwen-pictures.py --photographs). The
 * photographs are no part of the repository; the hashes are those of Pillow's bytes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RgbImage } from '../../src/core/index.ts';
import { decodeImage } from '../../src/data/index.ts';
import { parseProcessorConfig, resizeForModel } from '../../src/model/index.ts';

const processors = Object.entries({
  reduced: { min_pixels: 3136, max_pixels: 50176 },
  released: { min_pixels: 3136, max_pixels: 12845056 },
  enlarged: { min_pixels: 600000, max_pixels: 12845056 },
}).map(([kind, limits]) => [kind, parseProcessorConfig({ patch_size: 14, ...limits })] as const);

const shared = join(import.meta.dirname, '../../../shared/data/photos');
const present = existsSync(shared);
if (!present) console.log('skipped: resized photographs, shared/data/photos is not there');

describe.runIf(present)('photographs in PNG files', () => {
  test.each(processors)('%s: the very bytes of Pillow', async (kind, processor) => {
    const hashes = JSON.parse(
      await readFile(new URL('./fixtures/photographs.json', import.meta.url), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const names = Object.keys(hashes);
    expect(names).toHaveLength(49);
    const differing: string[] = [];
    for (const name of names) {
      const { data } = resizeForModel(await decodeImage(join(shared, name)), processor);
      const hash = createHash('sha256').update(data).digest('hex').slice(0, 16);
      if (hash !== hashes[name]![kind]) differing.push(name);
    }
    expect(differing).toEqual([]);
  });
});

const { QPONDER_PHOTOGRAPHS: folder, QPONDER_PHOTOGRAPH_PIXELS: pixels } = process.env;
const recorded = folder !== undefined && pixels !== undefined;
if (!recorded) {
  console.log('skipped: own photographs, QPONDER_PHOTOGRAPHS and QPONDER_PHOTOGRAPH_PIXELS are not set');
}

function largestDifference({ data }: RgbImage, expected: Buffer): number {
  if (data.length !== expected.length) return Number.POSITIVE_INFINITY;
  return data.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0);
}

describe.runIf(recorded)('photographs of any format', () => {
  test.each(processors)('%s: within one of 255 levels', { timeout: 600_000 }, async (kind, processor) => {
    const files = await readdir(join(pixels!, kind), { recursive: true });
    const names = files.filter((file) => file.endsWith('.rgb'));
    expect(names.length).toBeGreaterThan(0);
    const differing: string[] = [];
    let exact = 0;
    for (const name of names) {
      const image = await decodeImage(join(folder!, name.slice(0, -'.rgb'.length)));
      const difference = largestDifference(
        resizeForModel(image, processor),
        await readFile(join(pixels!, kind, name)),
      );
      if (difference === 0) exact++;
      if (difference > 1) differing.push(`${name}: ${difference}`);
    }
    console.log(`${kind}: ${exact} of ${names.length} photographs are equal in every byte`);
    expect(differing).toEqual([]);
  });
});
