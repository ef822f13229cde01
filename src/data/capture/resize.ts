import sharp from 'sharp';
import type { RgbImage } from '../../core/index.ts';

/** Resamples to a size with the given filter, aspect ratio ignored. */
export async function resizeTo(
  { data, width, height }: RgbImage,
  to: { width: number; height: number },
  kernel: 'cubic' | 'lanczos3' | 'linear',
): Promise<RgbImage> {
  const pixels = await sharp(data, { raw: { width, height, channels: 3 } })
    .resize(to.width, to.height, { kernel, fit: 'fill' })
    .raw()
    .toBuffer();
  return { data: new Uint8Array(pixels), width: to.width, height: to.height };
}

export const scaled = ({ width, height }: RgbImage, factor: number): { width: number; height: number } => ({
  width: Math.max(1, Math.round(width * factor)),
  height: Math.max(1, Math.round(height * factor)),
});
