import type { Raster } from '../raster.ts';

/** sRGB values 0..255 to relative light 0..1 (IEC 61966-2-1), and back. Lenses and sensors work on light. */
export const toLight = (image: Raster): Raster => ({
  ...image,
  data: image.data.map((value) => {
    const v = Math.max(0, value) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  }),
});

/** Light beyond 1 clips, as a full photosite does. */
export const fromLight = (image: Raster): Raster => ({
  ...image,
  data: image.data.map((value) => {
    const v = Math.max(0, Math.min(1, value));
    return 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);
  }),
});

/** Relative luminance of linear RGB (ITU-R BT.709 primaries). */
export const luminance = (red: number, green: number, blue: number): number =>
  0.2126 * red + 0.7152 * green + 0.0722 * blue;
