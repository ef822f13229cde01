import { luma, type Raster } from '../raster.ts';

/** RGB to luma and two color differences (full-range YCbCr of ITU-R BT.601 without the offset of 128). */
export function toColorPlanes(image: Raster): Raster {
  const data = new Float32Array(image.data.length);
  for (let i = 0; i < data.length; i += 3) {
    const y = luma(image.data[i]!, image.data[i + 1]!, image.data[i + 2]!);
    data[i] = y;
    data[i + 1] = (image.data[i + 2]! - y) / 1.772;
    data[i + 2] = (image.data[i]! - y) / 1.402;
  }
  return { ...image, data };
}

export function fromColorPlanes(planes: Raster): Raster {
  const data = new Float32Array(planes.data.length);
  for (let i = 0; i < data.length; i += 3) {
    const y = planes.data[i]!;
    const red = y + 1.402 * planes.data[i + 2]!;
    const blue = y + 1.772 * planes.data[i + 1]!;
    data[i] = red;
    data[i + 1] = (y - 0.299 * red - 0.114 * blue) / 0.587;
    data[i + 2] = blue;
  }
  return { ...planes, data };
}
