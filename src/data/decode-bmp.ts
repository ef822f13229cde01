import { decode } from 'bmp-ts';
import { InputError, type RgbImage } from '../core/index.ts';

/** File header, and the part of the information header that holds width and height. */
const HEAD_BYTES = 26;
const HINT = 'convert it to PNG, or copy it again';

export const isBmp = (start: Buffer): boolean => start.toString('latin1', 0, 2) === 'BM';

/**
 * A Windows bitmap as 8-bit RGB, for data sets that ship them (LIVE, TID2013, PIPAL), which libvips cannot read.
 * Alpha, where a file has it, is ignored: most programs write it as 0. InputError for what is no whole bitmap or
 * above the limit, told from its header before memory is spent.
 */
export function decodeBmp(bytes: Buffer, name: string, pixelLimit: number): RgbImage {
  if (bytes.length < HEAD_BYTES) throw new InputError(`${name} is a truncated BMP`, { hint: HINT });
  const width = bytes.readInt32LE(18);
  const height = Math.abs(bytes.readInt32LE(22));
  if (width < 1 || height < 1) {
    throw new InputError(`${name} is a BMP of ${width}x${height} pixels`, { hint: HINT });
  }
  if (width * height > pixelLimit) {
    throw new InputError(`${name} is ${width}x${height}, above the limit of ${pixelLimit} pixels`, {
      hint: 'shrink it first',
    });
  }
  let pixels: Uint8Array;
  try {
    // In its own order, alpha, blue, green, red: the option for RGBA is not kept for palettes (1.0.9).
    pixels = decode(bytes).data;
  } catch (error) {
    throw new InputError(`${name} is a BMP that cannot be read`, { hint: HINT, cause: error });
  }
  if (pixels.length !== width * height * 4) {
    throw new InputError(`${name} is a truncated BMP of ${width}x${height} pixels`, { hint: HINT });
  }
  const data = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; from < pixels.length; from += 4) {
    data[to++] = pixels[from + 3]!;
    data[to++] = pixels[from + 2]!;
    data[to++] = pixels[from + 1]!;
  }
  return { data, width, height };
}
