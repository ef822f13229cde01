import sharp from 'sharp';
import type { RgbImage, Rng } from '../../core/index.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { resizeTo, scaled } from './resize.ts';

/** How many times smaller the picture was before it was enlarged. */
export const ENLARGEMENT: StrengthCurve = [1.15, 1.5, 2.1, 3, 4.3, 6];
/** How often the picture is scaled, compressed and passed on; whole numbers. */
export const HOPS: StrengthCurve = [1, 1, 2, 3, 4, 5];
/** JPEG quality of a hop. */
export const HOP_QUALITY: StrengthCurve = [85, 66, 50, 37, 26, 16];
/** Smallest scale on the way. */
export const HOP_SCALE: StrengthCurve = [0.95, 0.88, 0.78, 0.67, 0.56, 0.45];

/** A small picture enlarged by cubic interpolation. */
export async function upscaling(image: RgbImage, strength: number): Promise<RgbImage> {
  const small = await resizeTo(image, scaled(image, 1 / atStrength(ENLARGEMENT, strength)), 'lanczos3');
  return resizeTo(small, image, 'cubic');
}

/**
 * A picture passed on from service to service: each scales it, down to the smallest scale by the last, and writes
 * a JPEG file of about the same quality; in the end it is shown at its first size.
 */
export async function recompression(image: RgbImage, strength: number, rng: Rng): Promise<RgbImage> {
  const hops = Math.round(atStrength(HOPS, strength));
  const scale = atStrength(HOP_SCALE, strength);
  let picture = image;
  for (let hop = 1; hop <= hops; hop++) {
    const quality = Math.round(atStrength(HOP_QUALITY, strength) * rng.uniform(0.95, 1.05));
    picture = await resizeTo(picture, scaled(image, scale ** (hop / hops)), 'lanczos3');
    const { width, height } = picture;
    const file = await sharp(picture.data, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: Math.max(1, Math.min(100, quality)) })
      .toBuffer();
    picture = { data: new Uint8Array(await sharp(file).raw().toBuffer()), width, height };
  }
  return resizeTo(picture, image, 'cubic');
}
