import { open, readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { asStorageError, InputError, type RgbImage } from '../core/index.ts';
import { decodeBmp, isBmp } from './decode-bmp.ts';

export interface DecodeOptions {
  /** Largest allowed width times height, default 268,402,689 (16383 x 16383). */
  pixelLimit?: number;
  /** What to call the image in errors when it is given as bytes. */
  name?: string;
}

const DEFAULT_PIXEL_LIMIT = 16383 * 16383;
const START_BYTES = 16;

/**
 * Decodes a picture file or its bytes to 8-bit RGB: orientation tag applied, transparency laid on white, grey
 * and CMYK converted, 16 bits reduced to 8, the first frame of an animation. The numbers are those that Pillow
 * gives, for a model must see what its processor shows it elsewhere; but a colour profile in the file is applied,
 * which Pillow leaves to its caller. Every picture that cannot be used is an InputError with name, problem and
 * remedy; a path that cannot be read is a StorageError.
 */
export async function decodeImage(input: string | Buffer, options: DecodeOptions = {}): Promise<RgbImage> {
  const name = options.name ?? (typeof input === 'string' ? input : 'image');
  const pixelLimit = options.pixelLimit ?? DEFAULT_PIXEL_LIMIT;
  const start = await startOf(input, name);
  if (isBmp(start)) return decodeBmp(await bytesOf(input, name), name, pixelLimit);
  try {
    const reading = { limitInputPixels: pixelLimit, failOn: 'error', pages: 1 } as const;
    const stored = await sharp(input, reading).metadata();
    const inks = stored.space === 'cmyk' && stored.depth === 'uchar' && stored.icc === undefined;
    const space = inks ? 'cmyk' : 'srgb';
    const { data, info } = await sharp(input, reading)
      .pipelineColourspace(space)
      .autoOrient()
      .toColourspace(space)
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return {
      data: inks ? inksToRgb(data, info.channels) : asRgb(data, info.channels),
      width: info.width,
      height: info.height,
    };
  } catch (error) {
    throw asInputError(error, name, pixelLimit, start);
  }
}

async function bytesOf(input: string | Buffer, name: string): Promise<Buffer> {
  if (typeof input !== 'string') return input;
  try {
    return await readFile(input);
  } catch (error) {
    throw asStorageError(error, `reading image ${name}`);
  }
}

/** The first bytes of a picture. Opening the file here tells a missing permission from a broken picture. */
async function startOf(input: string | Buffer, name: string): Promise<Buffer> {
  const start = typeof input === 'string' ? await readStart(input, name) : input.subarray(0, START_BYTES);
  if (start.length === 0) {
    throw new InputError(`${name} is empty (0 bytes)`, { hint: 'copy or download the file again' });
  }
  return start;
}

async function readStart(path: string, name: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      if ((await file.stat()).isDirectory()) {
        throw new InputError(`${name} is a folder, an image file was expected`, {
          hint: 'name the image files in it',
        });
      }
      const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw asStorageError(error, `reading image ${name}`);
  }
}

/** Formats that people have and that cannot be read, by their first bytes. */
function unsupportedFormat(start: Buffer): string | undefined {
  if (/^ftyp(hei|hev|mif1)/.test(start.toString('latin1', 4, 12))) return 'HEIC';
  return undefined;
}

/** Grey or RGB of 1 to 4 channels; the even ones have alpha last and are laid on white. */
function asRgb(data: Buffer, channels: number): Uint8Array {
  if (channels === 3) return new Uint8Array(data);
  const rgb = new Uint8Array((data.length / channels) * 3);
  const colours = channels > 2 ? 3 : 1;
  for (let from = 0, to = 0; from < data.length; from += channels) {
    const alpha = channels > colours ? data[from + colours]! : 255;
    for (let c = 0; c < 3; c++) {
      const value = data[from + (c % colours)]!;
      // libvips would cut the fraction off, which resizing then makes visible.
      rgb[to++] = Math.round((value * alpha) / 255 + 255 - alpha);
    }
  }
  return rgb;
}

/** Cyan, magenta, yellow and black as light that is left, each ink over the others' share. */
function inksToRgb(data: Buffer, channels: number): Uint8Array {
  const rgb = new Uint8Array((data.length / channels) * 3);
  for (let from = 0, to = 0; from < data.length; from += channels) {
    const light = 255 - data[from + 3]!;
    for (let c = 0; c < 3; c++) rgb[to++] = Math.round(light - (data[from + c]! * light) / 255);
  }
  return rgb;
}

function asInputError(error: unknown, name: string, pixelLimit: number, start: Buffer): unknown {
  const storage = asStorageError(error, `reading image ${name}`);
  if (storage !== error) return storage;
  if (!(error instanceof Error)) return error;
  if (/pixel limit/i.test(error.message)) {
    return new InputError(`${name} has more than the ${pixelLimit} pixels allowed`, {
      hint: 'scale it down first',
      cause: error,
    });
  }
  const unsupported = unsupportedFormat(start);
  if (unsupported !== undefined) {
    return new InputError(`${name} is a ${unsupported} file, which is not supported`, {
      hint: 'convert it to PNG; allowed are JPEG, PNG, WebP, TIFF, GIF, AVIF, BMP and SVG',
      cause: error,
    });
  }
  if (/unsupported image format|corrupt header/i.test(error.message)) {
    return new InputError(`${name} is not an image that can be read`, {
      hint: 'allowed are JPEG, PNG, WebP, TIFF, GIF, AVIF and SVG; if it is one of these, it is damaged',
      cause: error,
    });
  }
  return new InputError(`${name} is broken: ${error.message.split('\n')[0]}`, {
    hint: 'the file is damaged or was cut short: copy or download it again',
    cause: error,
  });
}

/** Encodes as PNG, losslessly. */
export async function encodePng({ data, width, height }: RgbImage): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 4, adaptiveFiltering: true })
    .toBuffer();
}
