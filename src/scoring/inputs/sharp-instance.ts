import type { Sharp } from 'sharp';
import { InputError, type RgbImage } from '../../core/index.ts';
import { PICTURE_FORMATS } from './format.ts';
import type { InputRules } from './options.ts';

/** Told by what it can do: the caller's sharp may be another copy of the package. */
export const isSharp = (input: object): input is Sharp =>
  (['metadata', 'clone', 'toBuffer', 'flatten'] as const).every(
    (name) => typeof (input as Partial<Sharp>)[name] === 'function',
  );

/** Formats as sharp names them where they differ, and pixels without a file. */
const FORMATS: readonly string[] = [...PICTURE_FORMATS, 'heif', 'raw'];

/**
 * What a sharp pipeline gives, as files are decoded: upright, transparency on white, 8-bit sRGB, the first frame.
 * The instance itself is not consumed. Its limits are those that its maker gave it; ours are looked at beside them.
 */
export async function pixelsOfSharp(
  instance: Sharp,
  { maxPixels, allowSvg }: Pick<InputRules, 'maxPixels' | 'allowSvg'>,
): Promise<RgbImage> {
  try {
    const { width, height, format } = await instance.clone().metadata();
    if (!FORMATS.includes(format) && !(format === 'svg' && allowSvg)) {
      throw new InputError(`the sharp instance reads ${format}, which is not allowed`, {
        hint: `allowed are ${FORMATS.join(', ')}`,
      });
    }
    requirePixels(width * height, maxPixels);
    const { data, info } = await instance
      .clone()
      .autoOrient()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const frame = info.pageHeight ?? info.height;
    requirePixels(info.width * frame, maxPixels);
    return { data: threeChannels(data, info.channels, info.width * frame), width: info.width, height: frame };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const reason = (error as Error).message.split('\n')[0];
    throw new InputError(`the sharp instance gives no picture: ${reason}`, {
      hint: 'sharp(file).toBuffer() tells more',
      cause: error,
    });
  }
}

function requirePixels(pixels: number, maxPixels: number): void {
  if (pixels <= maxPixels) return;
  throw new InputError(`the sharp instance has more than the ${maxPixels} pixels allowed`, {
    hint: 'scale it down first, or raise input.maxPixels',
  });
}

/** Grey pixels come with one channel. */
function threeChannels(data: Buffer, channels: number, pixels: number): Uint8Array {
  if (channels === 3) return new Uint8Array(data.subarray(0, pixels * 3));
  const rgb = new Uint8Array(pixels * 3);
  for (let i = 0; i < rgb.length; i++) rgb[i] = data[Math.floor(i / 3) * channels]!;
  return rgb;
}
