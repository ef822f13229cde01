import { stat } from 'node:fs/promises';
import sharp from 'sharp';
import { asStorageError, InputError, type RgbImage } from '../core/index.ts';

export interface DecodeOptions {
  /** Largest allowed width times height, default 268,402,689 (16383 x 16383). */
  pixelLimit?: number;
  /** What to call the image in errors when it is given as bytes. */
  name?: string;
}

const DEFAULT_PIXEL_LIMIT = 16383 * 16383;

/**
 * Decodes a picture file or its bytes to 8-bit sRGB: orientation tag applied, transparency laid on white, grey
 * and CMYK converted, 16 bits reduced to 8, the first frame of an animation. Every picture that cannot be used
 * is an InputError with name, problem and remedy; a path that cannot be read is a StorageError.
 */
export async function decodeImage(input: string | Buffer, options: DecodeOptions = {}): Promise<RgbImage> {
  const name = options.name ?? (typeof input === 'string' ? input : 'image');
  const pixelLimit = options.pixelLimit ?? DEFAULT_PIXEL_LIMIT;
  await checkNotEmpty(input, name);
  try {
    const { data, info } = await sharp(input, { limitInputPixels: pixelLimit, failOn: 'error', pages: 1 })
      .autoOrient()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { data: asRgb(data, info.channels), width: info.width, height: info.height };
  } catch (error) {
    throw asInputError(error, name, pixelLimit);
  }
}

async function checkNotEmpty(input: string | Buffer, name: string): Promise<void> {
  let size: number;
  if (typeof input === 'string') {
    let status: Awaited<ReturnType<typeof stat>>;
    try {
      status = await stat(input);
    } catch (error) {
      throw asStorageError(error, `reading image ${name}`);
    }
    if (status.isDirectory()) {
      throw new InputError(`${name} is a folder, an image file was expected`, {
        hint: 'name the image files in it',
      });
    }
    size = status.size;
  } else {
    size = input.length;
  }
  if (size === 0) {
    throw new InputError(`${name} is empty (0 bytes)`, { hint: 'copy or download the file again' });
  }
}

function asRgb(data: Buffer, channels: number): Uint8Array {
  if (channels === 3) return new Uint8Array(data);
  const rgb = new Uint8Array((data.length / channels) * 3);
  for (let i = 0; i < rgb.length; i++) {
    rgb[i] = data[Math.floor(i / 3) * channels + (channels > 2 ? i % 3 : 0)]!;
  }
  return rgb;
}

function asInputError(error: unknown, name: string, pixelLimit: number): unknown {
  const storage = asStorageError(error, `reading image ${name}`);
  if (storage !== error) return storage;
  if (!(error instanceof Error)) return error;
  if (/pixel limit/i.test(error.message)) {
    return new InputError(`${name} has more than the ${pixelLimit} pixels allowed`, {
      hint: 'scale it down first',
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
