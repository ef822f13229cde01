import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import sharp from 'sharp';
import { z } from 'zod';
import { asStorageError, InputError } from '../../core/index.ts';
import { decodeImage } from '../decode.ts';
import { perceptualHash } from './perceptual-hash.ts';

/** Changes whenever the same file would give other facts. */
export const FACTS_VERSION = 1;

export const imageFactsSchema = z.strictObject({
  sha256: z.string(),
  /** Null where the picture could not be decoded. */
  width: z.number().nullable(),
  height: z.number().nullable(),
  /** Null too for pictures without structure, which all look alike. */
  perceptualHash: z.string().nullable(),
  /** Logarithm of the mean squared Laplacian, and standard deviation, of the green channel in grey levels. */
  sharpness: z.number().nullable(),
  contrast: z.number().nullable(),
  problem: z
    .strictObject({
      kind: z.enum(['unreadable-image', 'broken-image', 'decompression-bomb']),
      message: z.string(),
    })
    .nullable(),
});
export type ImageFacts = z.infer<typeof imageFactsSchema>;

/** Larger files are not read: their pictures would not be used either. */
const FILE_LIMIT = 512 * 2 ** 20;
/** Below this standard deviation a picture has no structure to compare. */
const FLAT = 2;

type Problem = NonNullable<ImageFacts['problem']>;

const failed = (sha256: string, kind: Problem['kind'], message: string): ImageFacts => ({
  sha256,
  width: null,
  height: null,
  perceptualHash: null,
  sharpness: null,
  contrast: null,
  problem: { kind, message },
});

/** Hashes and decodes a file. Whatever is wrong with it is in `problem`: this does not throw for a bad picture. */
export async function inspectImage(path: string, pixelLimit: number): Promise<ImageFacts> {
  let file: Buffer;
  try {
    file = await readWhole(path);
  } catch (error) {
    const known = asStorageError(error, 'reading it');
    return failed('', 'unreadable-image', known instanceof Error ? known.message : String(known));
  }
  return factsOf(file, pixelLimit);
}

/** `known` is asked with the hash of the file's bytes before they are decoded. */
export async function factsOf(file: Buffer, pixelLimit: number): Promise<ImageFacts> {
  const sha256 = createHash('sha256').update(file).digest('hex');
  const bomb = await declaresTooMuch(file, pixelLimit);
  if (bomb !== null) return failed(sha256, 'decompression-bomb', bomb);
  try {
    const { data, info } = await sharp(file, { limitInputPixels: pixelLimit, failOn: 'error', pages: 1 })
      .autoOrient()
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    // Green stands for luma: it is most of it, and taking it costs nothing.
    const offset = channels > 2 ? 1 : 0;
    const { sharpness, contrast, small } = measure(data, width, height, channels, offset);
    const hash = contrast < FLAT ? null : perceptualHash(small);
    return { sha256, width, height, perceptualHash: hash, sharpness, contrast, problem: null };
  } catch (error) {
    return failed(sha256, 'broken-image', await reasonOf(file, pixelLimit, error));
  }
}

async function readWhole(path: string): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new InputError('it is not a file');
    if (stats.size > FILE_LIMIT) {
      throw new InputError(`it has ${stats.size} bytes, ${FILE_LIMIT} are allowed`);
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Reads the header alone, so that a bomb is named without being set off. */
async function declaresTooMuch(file: Buffer, pixelLimit: number): Promise<string | null> {
  try {
    const { width, height } = await sharp(file, { limitInputPixels: false, pages: 1 }).metadata();
    if (width * height <= pixelLimit) return null;
    return `${width}x${height} pixels in ${file.length} bytes; ${pixelLimit} pixels are allowed`;
  } catch {
    return null; // No header that can be read: decoding says what is wrong.
  }
}

/** The words of `decodeImage` for what is wrong: empty, a format that is not supported, damaged. */
async function reasonOf(file: Buffer, pixelLimit: number, error: unknown): Promise<string> {
  try {
    await decodeImage(file, { name: 'it', pixelLimit });
  } catch (known) {
    if (known instanceof InputError) return known.message;
  }
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}

const SMALL = 32;

/** Statistics of one channel, and its means over a grid of 32 x 32 cells. */
function measure(data: Buffer, width: number, height: number, channels: number, offset: number) {
  const stride = width * channels;
  const small = new Float64Array(SMALL * SMALL);
  const counts = new Float64Array(SMALL * SMALL);
  let sum = 0;
  let squares = 0;
  let laplacian = 0;
  let inner = 0;
  for (let y = 0; y < height; y++) {
    const cellRow = Math.floor((y * SMALL) / height) * SMALL;
    const isInner = y > 0 && y < height - 1;
    for (let x = 0; x < width; x++) {
      const at = y * stride + x * channels + offset;
      const value = data[at]!;
      sum += value;
      squares += value * value;
      const cell = cellRow + Math.floor((x * SMALL) / width);
      small[cell] = small[cell]! + value;
      counts[cell] = counts[cell]! + 1;
      if (isInner && x > 0 && x < width - 1) {
        const l =
          4 * value - data[at - channels]! - data[at + channels]! - data[at - stride]! - data[at + stride]!;
        laplacian += l * l;
        inner++;
      }
    }
  }
  const mean = sum / (width * height);
  // A picture smaller than the grid leaves cells empty; they take the mean.
  for (let i = 0; i < small.length; i++) small[i] = counts[i] === 0 ? mean : small[i]! / counts[i]!;
  return {
    sharpness: Math.log1p(inner === 0 ? 0 : laplacian / inner),
    contrast: Math.sqrt(Math.max(0, squares / (width * height) - mean * mean)),
    small,
  };
}
