import sharp, { type OverlayOptions } from 'sharp';
import { Rng } from '../core/index.ts';
import { ALL_DISTORTIONS, CROSS_DISTORTIONS, type SynthesizedDistortion } from './distortion-types.ts';
import { applyDistortion } from './distortions.ts';
import { createRaster, cropImage, toImage } from './raster.ts';
import { halve } from './scenes/develop.ts';
import { drawText } from './scenes/glyphs.ts';
import { fillPolygon, type Rgb, rectangle } from './scenes/paint.ts';
import { renderScene, SCENE_KINDS } from './scenes.ts';

const LEFT = 180;
const TOP = 28;
const GAP = 4;

/** A PNG that shows distortion types (rows) undistorted and at levels 1 to 5 (columns), with labels. */
export async function contactSheet(
  seed: number,
  size: number,
  types: readonly SynthesizedDistortion[] = ALL_DISTORTIONS,
  unseen: readonly SynthesizedDistortion[] = CROSS_DISTORTIONS,
): Promise<Buffer> {
  const root = new Rng(seed).fork('contact-sheet');
  const cell = size + GAP;
  const tiles: OverlayOptions[] = [];
  const place = (image: { data: Uint8Array; width: number; height: number }, left: number, top: number) => {
    const { width, height } = image;
    tiles.push({ input: Buffer.from(image.data), raw: { width, height, channels: 3 }, left, top });
  };
  ['pristine', 'level 1', 'level 2', 'level 3', 'level 4', 'level 5'].forEach((title, column) => {
    place(label(title, size, TOP), LEFT + column * cell, 0);
  });
  for (const [row, type] of types.entries()) {
    const top = TOP + row * cell;
    const rng = root.fork(type);
    const scene = renderScene(rng.fork('scene'), size + 48, SCENE_KINDS[row % SCENE_KINDS.length]!).image;
    const cross = unseen.includes(type);
    const name = type.replaceAll(/([A-Z])/g, ' $1');
    place(label(name, LEFT, size, cross ? 'unseen' : undefined), 0, top);
    const pristine = cropImage(scene, 16, 16, size + 16, size + 16);
    for (let level = 0; level <= 5; level++) {
      const image =
        level === 0 ? pristine : await applyDistortion(pristine, type, level, rng.fork('distortion'));
      place(cropImage(image, 5, 3, size, size), LEFT + level * cell, top);
    }
  }
  const width = LEFT + 6 * cell;
  const height = TOP + types.length * cell;
  return sharp({ create: { width, height, channels: 3, background: { r: 250, g: 250, b: 248 } } })
    .composite(tiles)
    .png()
    .toBuffer();
}

function label(text: string, width: number, height: number, note?: string) {
  const canvas = createRaster(2 * width, 2 * height);
  fillPolygon(canvas, rectangle(0, 0, 2 * width, 2 * height), { color: [250, 250, 248] });
  const ink: Rgb = [40, 42, 48];
  const y = height - 10;
  drawText(canvas, text, 12, y, 18, 2.4, { color: ink });
  if (note !== undefined) drawText(canvas, note, 12, y + 32, 14, 2, { color: [170, 60, 40] });
  return toImage(halve(canvas));
}
