import { createRaster, type Raster } from '../raster.ts';

/** The color that a photosite of the RGGB pattern sees: 0 red, 1 green, 2 blue. */
export const siteColor = (x: number, y: number): 0 | 1 | 2 => {
  if (x % 2 === y % 2) return x % 2 === 0 ? 0 : 2;
  return 1;
};

/**
 * Each photosite keeps its own color; the two others are the mean of the nearest sites that have them (bilinear
 * interpolation, the cause of zipper edges and false color).
 */
export function throughMosaic(image: Raster): Raster {
  const { width, height, data } = image;
  const out = createRaster(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      const own = siteColor(x, y);
      for (let c = 0; c < 3; c++) {
        if (c === own) {
          out.data[at + c] = data[at + c]!;
          continue;
        }
        let sum = 0;
        let weight = 0;
        for (let dy = -1; dy <= 1; dy++) {
          for (let dx = -1; dx <= 1; dx++) {
            const u = mirror(x + dx, width);
            const v = mirror(y + dy, height);
            if (siteColor(u, v) !== c) continue;
            const w = dx === 0 || dy === 0 ? 2 : 1;
            sum += w * data[(v * width + u) * 3 + c]!;
            weight += w;
          }
        }
        // A picture of one row or column lacks a color altogether.
        out.data[at + c] = weight === 0 ? data[at + own]! : sum / weight;
      }
    }
  }
  return out;
}

/** Mirrored about the centre of the edge pixel, which keeps the parity and so the color of a site. */
function mirror(i: number, size: number): number {
  if (size === 1) return 0;
  return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i;
}
