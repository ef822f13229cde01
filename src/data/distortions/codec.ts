import sharp from 'sharp';
import type { RgbImage } from '../../core/index.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

/** Quality setting of the encoder, rounded to an integer. */
export const JPEG_QUALITY: StrengthCurve = [75, 42, 24, 14, 8, 4];

/** A real baseline JPEG file (libjpeg tables, 4:2:0 chroma), written and read back. */
export async function jpegCompression(image: RgbImage, strength: number): Promise<RgbImage> {
  const { data, width, height } = image;
  const quality = Math.max(1, Math.round(atStrength(JPEG_QUALITY, strength)));
  const file = await sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();
  return { data: new Uint8Array(await sharp(file).raw().toBuffer()), width, height };
}
