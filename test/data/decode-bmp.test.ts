import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { InputError } from '../../src/core/index.ts';
import { decodeImage } from '../../src/data/index.ts';

/** Windows bitmap by its specification: rows bottom up, padded to 4 bytes, blue first. */
function bitmap(
  width: number,
  height: number,
  bits: 8 | 24,
  pixel: (x: number, y: number) => number[],
): Buffer {
  const stride = Math.ceil((width * bits) / 32) * 4;
  const start = 54 + (bits === 8 ? 1024 : 0);
  const file = Buffer.alloc(start + stride * height);
  file.write('BM');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(start, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(bits, 28);
  // Palette entry i is red i, green 255 - i, blue 7.
  for (let i = 0; i < 256 && bits === 8; i++) file.set([7, 255 - i, i, 0], 54 + 4 * i);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      file.set(pixel(x, y), start + (height - 1 - y) * stride + (x * bits) / 8);
    }
  }
  return file;
}

const coloured = bitmap(3, 2, 24, (x, y) => [30 + x, 20 + y, 10]);

it('24 bits: rows from the top, red first', async () => {
  const { data, width, height } = await decodeImage(coloured);
  expect([width, height]).toEqual([3, 2]);
  expect([...data]).toEqual([
    ...[10, 20, 30, 10, 20, 31, 10, 20, 32],
    ...[10, 21, 30, 10, 21, 31, 10, 21, 32],
  ]);
});

it('8 bits: the colours of the palette', async () => {
  const { data } = await decodeImage(bitmap(2, 1, 8, (x) => [100 + x]));
  expect([...data]).toEqual([100, 155, 7, 101, 154, 7]);
});

it('from a file as from memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bmp-'));
  await writeFile(join(folder, 'I01.BMP'), coloured);
  expect(await decodeImage(join(folder, 'I01.BMP'))).toEqual(await decodeImage(coloured));
  await rm(folder, { recursive: true });
});

test.each([
  ['cut in its pixels', coloured.subarray(0, coloured.length - 5), /BMP/],
  ['cut in its header', coloured.subarray(0, 20), /truncated BMP/],
  ['of no width', bitmap(0, 2, 24, () => []), /BMP of 0x2 pixels/],
])('one %s is an InputError', async (_what, bytes, message) => {
  await expect(decodeImage(Buffer.from(bytes))).rejects.toThrow(InputError);
  await expect(decodeImage(Buffer.from(bytes))).rejects.toThrow(message);
});

it('one above the limit is refused by its header', async () => {
  const huge = Buffer.from(coloured);
  huge.writeInt32LE(100_000, 18);
  huge.writeInt32LE(100_000, 22);
  await expect(decodeImage(huge, { pixelLimit: 1e6 })).rejects.toThrow(
    '100000x100000, above the limit of 1000000',
  );
});
