import type { Raster } from '../raster.ts';
import { type Fill, stroke } from './paint.ts';

/**
 * A stroke alphabet on a grid 4 wide and 6 high: each glyph is a list of polylines, each point two digits
 * (x, then y from the top). It letters both the sign scenes and the contact sheet, so neither needs a font.
 */
const GLYPHS: Record<string, string> = {
  A: '062046,1434',
  B: '06003041423303,3344453606',
  C: '4130100105163645',
  D: '06003041453606',
  E: '40000646,0333',
  F: '400006,0333',
  G: '41301001051636454323',
  H: '0006,4046,0343',
  I: '1030,2026,1636',
  J: '4045361605',
  K: '0006,400346',
  L: '000646',
  M: '0600234046',
  N: '06004640',
  O: '103041453616050110',
  P: '06003041423303',
  Q: '103041453616050110,3446',
  R: '06003041423303,2346',
  S: '413010010213334445361605',
  T: '0040,2026',
  U: '000516364540',
  V: '002640',
  W: '0016233640',
  X: '0046,4006',
  Y: '002340,2326',
  Z: '00400646',
  '0': '103041453616050110,0541',
  '1': '112026,1636',
  '2': '01103041420646',
  '3': '01103041423313,334445361605',
  '4': '36300444',
  '5': '400002324345361605',
  '6': '30100105163645443303',
  '7': '004016',
  '8': '103041423313020110,1304051636454433',
  '9': '43130201103041453616',
  '.': '2526',
  '-': '1333',
  ' ': '',
};

export const GLYPH_NAMES = Object.keys(GLYPHS).filter((name) => /[A-Z]/.test(name));

/** Width in units of the text height, gaps included. */
export const textWidth = (text: string): number => (text.length * 5.5 - 1.5) / 6;

/** Draws a line of text, upper left corner at (x, y), `height` pixels high. Unknown characters are left blank. */
export function drawText(
  canvas: Raster,
  text: string,
  x: number,
  y: number,
  height: number,
  weight: number,
  fill: Fill,
): void {
  const unit = height / 6;
  [...text.toUpperCase()].forEach((character, index) => {
    const left = x + index * 5.5 * unit;
    for (const line of (GLYPHS[character] ?? '').split(',')) {
      for (let i = 0; i + 3 < line.length; i += 2) {
        const at = (k: number) => Number(line[i + k]) * unit;
        stroke(canvas, left + at(0), y + at(1), left + at(2), y + at(3), weight, fill);
      }
    }
  });
}
