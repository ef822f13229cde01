import { readFile } from 'node:fs';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { asStorageError, InputError } from '../core/index.ts';
import { imageDataUrl } from '../remote/index.ts';

/** Formats that every server takes as they are. */
const SENT_AS_IS: Readonly<Record<string, string>> = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

/** A quarter of the processor time of the one in node:fs/promises, which opens a handle for each file. */
const bytesOf = promisify(readFile);

const PIXEL_LIMIT = 16383 * 16383;

/**
 * A picture as a data URL of at most `maxPixels` pixels. The file's own bytes where they will do; otherwise resized
 * by Lanczos and sent as PNG, since compressing it would change what is judged.
 */
export async function boundedPictureUrl(path: string, maxPixels: number): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await bytesOf(path);
  } catch (error) {
    throw asStorageError(error, `reading image ${path}`);
  }
  try {
    const { format, width, height, orientation = 1, pages = 1 } = await sharp(bytes).metadata();
    const mime = SENT_AS_IS[format ?? ''];
    const scale = Math.sqrt(maxPixels / (width * height));
    if (mime !== undefined && scale >= 1 && orientation === 1 && pages === 1) {
      return imageDataUrl(bytes, mime);
    }
    const upright = sharp(bytes, { limitInputPixels: PIXEL_LIMIT, failOn: 'error', pages: 1 })
      .autoOrient()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb');
    // Orientations from 5 on are turned by a quarter.
    const [across, down] = orientation >= 5 ? [height, width] : [width, height];
    const side = (length: number): number => Math.max(1, Math.floor(length * scale));
    const bounded =
      scale >= 1 ? upright : upright.resize(side(across), side(down), { fit: 'fill', kernel: 'lanczos3' });
    return imageDataUrl(await bounded.png({ compressionLevel: 4 }).toBuffer(), 'image/png');
  } catch (error) {
    if (error instanceof InputError || !(error instanceof Error)) throw error;
    throw new InputError(`${path} is not a picture that can be sent: ${error.message.split('\n')[0]}`, {
      hint: 'look at it with "q-ponder data validate", or leave it out of the data set',
      cause: error,
    });
  }
}
