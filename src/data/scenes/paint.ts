import type { Raster } from '../raster.ts';
import type { Field } from './spectral-noise.ts';

export type Rgb = readonly [number, number, number];

/** How a shape is colored: a flat color times a light that may fall off linearly and carry a texture. */
export interface Fill {
  color: Rgb;
  /** Relative change of light per pixel to the right and downwards, zero at `anchor`. */
  slope?: readonly [number, number];
  anchor?: readonly [number, number];
  /** A periodic field with unit variance; `amount` is the relative standard deviation it adds. */
  texture?: Field;
  amount?: number;
  shift?: readonly [number, number];
  /** 0 to 1, default 1. */
  opacity?: number;
}

/**
 * Fills a simple or self-crossing polygon (even-odd rule) given as x0, y0, x1, y1, ... in pixels. Coverage is
 * exact along each pixel row's centre line; scenes are painted at twice their size and halved afterwards, which
 * smooths the other direction.
 */
export function fillPolygon(canvas: Raster, points: readonly number[], fill: Fill): void {
  let top = Number.POSITIVE_INFINITY;
  let bottom = Number.NEGATIVE_INFINITY;
  for (let i = 1; i < points.length; i += 2) {
    top = Math.min(top, points[i]!);
    bottom = Math.max(bottom, points[i]!);
  }
  const firstRow = Math.max(0, Math.ceil(top - 0.5));
  const lastRow = Math.min(canvas.height - 1, Math.floor(bottom - 0.5));
  const crossings: number[] = [];
  for (let row = firstRow; row <= lastRow; row++) {
    const y = row + 0.5;
    crossings.length = 0;
    for (let i = 0; i < points.length; i += 2) {
      const next = (i + 2) % points.length;
      const y0 = points[i + 1]!;
      const y1 = points[next + 1]!;
      if (y0 <= y === y1 <= y) continue;
      const x0 = points[i]!;
      crossings.push(x0 + ((y - y0) / (y1 - y0)) * (points[next]! - x0));
    }
    if (crossings.length > 2) crossings.sort((a, b) => a - b);
    else if (crossings[0]! > crossings[1]!) crossings.reverse();
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      fillSpan(canvas, row, crossings[i]!, crossings[i + 1]!, fill);
    }
  }
}

function fillSpan(canvas: Raster, row: number, from: number, to: number, fill: Fill): void {
  const left = Math.max(0, from);
  const right = Math.min(canvas.width, to);
  if (right <= left) return;
  const { data, width } = canvas;
  const [red, green, blue] = fill.color;
  const opacity = fill.opacity ?? 1;
  const slopeX = fill.slope?.[0] ?? 0;
  const anchorX = fill.anchor?.[0] ?? 0;
  const base = 1 + (fill.slope?.[1] ?? 0) * (row - (fill.anchor?.[1] ?? 0));
  const texture = fill.texture;
  const amount = fill.amount ?? 0;
  const mask = (texture?.size ?? 1) - 1;
  const textureRow = ((row + (fill.shift?.[1] ?? 0)) & mask) * (mask + 1);
  const shiftX = fill.shift?.[0] ?? 0;
  const last = Math.min(width - 1, Math.ceil(right) - 1);
  for (let x = Math.floor(left); x <= last; x++) {
    const coverage = opacity * (Math.min(right, x + 1) - Math.max(left, x));
    let light = base + slopeX * (x - anchorX);
    if (texture !== undefined) light += amount * texture.data[textureRow + ((x + shiftX) & mask)]!;
    if (light < 0) light = 0;
    const at = (row * width + x) * 3;
    data[at] = data[at]! + coverage * (red * light - data[at]!);
    data[at + 1] = data[at + 1]! + coverage * (green * light - data[at + 1]!);
    data[at + 2] = data[at + 2]! + coverage * (blue * light - data[at + 2]!);
  }
}

export const rectangle = (x: number, y: number, width: number, height: number): number[] => [
  x,
  y,
  x + width,
  y,
  x + width,
  y + height,
  x,
  y + height,
];

/** An ellipse with half axes a and b, turned by `angle` radians, as a polygon fine enough to look round. */
export function ellipse(x: number, y: number, a: number, b: number, angle = 0): number[] {
  const count = Math.max(12, Math.min(56, Math.round(3 * Math.sqrt(Math.max(a, b)) + 8)));
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const points: number[] = [];
  for (let i = 0; i < count; i++) {
    const t = (2 * Math.PI * i) / count;
    const u = a * Math.cos(t);
    const v = b * Math.sin(t);
    points.push(x + u * cos - v * sin, y + u * sin + v * cos);
  }
  return points;
}

/** One straight stroke with square ends reaching half a width beyond both points. */
export function stroke(
  canvas: Raster,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  width: number,
  fill: Fill,
): void {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const ux = ((x1 - x0) / length) * (width / 2);
  const uy = ((y1 - y0) / length) * (width / 2);
  fillPolygon(
    canvas,
    [
      x0 - ux - uy,
      y0 - uy + ux,
      x0 - ux + uy,
      y0 - uy - ux,
      x1 + ux + uy,
      y1 + uy - ux,
      x1 + ux - uy,
      y1 + uy + ux,
    ],
    fill,
  );
}

/** Paints rows y0 to y1 over the full width with a vertical gradient between two colors. */
export function fillGradient(canvas: Raster, y0: number, y1: number, from: Rgb, to: Rgb): void {
  const first = Math.max(0, Math.floor(y0));
  const last = Math.min(canvas.height, Math.ceil(y1));
  for (let row = first; row < last; row++) {
    const t = Math.max(0, Math.min(1, (row - y0) / Math.max(1, y1 - y0)));
    const color = from.map((value, c) => value + t * (to[c]! - value));
    for (let x = 0; x < canvas.width; x++) {
      const at = (row * canvas.width + x) * 3;
      for (let c = 0; c < 3; c++) canvas.data[at + c] = color[c]!;
    }
  }
}
