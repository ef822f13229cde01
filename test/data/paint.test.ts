import { expect, it } from 'vitest';
import { createRaster } from '../../src/data/raster.ts';
import { ellipse, fillPolygon, rectangle, stroke } from '../../src/data/scenes/paint.ts';

const paintedArea = (points: readonly number[]): number => {
  const canvas = createRaster(40, 40);
  fillPolygon(canvas, points, { color: [1, 1, 1] });
  return canvas.data.reduce((sum, value) => sum + value, 0) / 3;
};

it('covers the exact area of a trapezoid whose slanted sides cross pixels', () => {
  // Parallel sides 20.5 and 10.5 on whole rows 5 and 15: area (20.5 + 10.5) / 2 * 10.
  expect(paintedArea([4.25, 5, 24.75, 5, 19.75, 15, 9.25, 15])).toBeCloseTo(155, 4);
});

it('covers fractional columns partly', () => {
  expect(paintedArea(rectangle(3.25, 10, 2.5, 4))).toBeCloseTo(10, 5);
});

it('leaves the hole of a self-crossing outline empty (even-odd rule)', () => {
  // The two loops are joined along row 10, where the joint has no area.
  const outer = [0, 10, 0, 0, 30, 0, 30, 30, 0, 30, 0, 10];
  const inner = [10, 10, 10, 20, 20, 20, 20, 10, 10, 10];
  expect(paintedArea([...outer, ...inner])).toBeCloseTo(800, 4);
});

it('clips shapes to the canvas', () => {
  expect(paintedArea(rectangle(-100, -100, 110, 110))).toBeCloseTo(100, 4);
  expect(paintedArea(rectangle(50, 50, 10, 10))).toBe(0);
});

it('draws an ellipse of area pi a b', () => {
  expect(Math.abs(paintedArea(ellipse(20, 20, 14, 9, 0.4)) / (Math.PI * 14 * 9) - 1)).toBeLessThan(0.02);
});

it('draws a stroke as long as its ends plus one width', () => {
  const canvas = createRaster(40, 40);
  stroke(canvas, 10, 20, 30, 20, 4, { color: [1, 1, 1] });
  expect(canvas.data.reduce((sum, value) => sum + value, 0) / 3).toBeCloseTo(24 * 4, 4);
});

it('mixes by opacity', () => {
  const canvas = createRaster(2, 2);
  canvas.data.fill(100);
  fillPolygon(canvas, rectangle(0, 0, 2, 2), { color: [200, 0, 100], opacity: 0.25 });
  expect([...canvas.data.slice(0, 3)]).toEqual([125, 75, 100]);
});
