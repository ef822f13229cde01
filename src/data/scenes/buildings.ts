import { fillGradient, fillPolygon, type Rgb, rectangle, stroke } from './paint.ts';
import { type Painter, randomShift, type Studio } from './painter.ts';
import { type Material, shade } from './palette.ts';

/** A street: sky, a row of fronts with window grids and roofs, a pavement. */
export const paintBuildings: Painter = (studio) => {
  const { canvas, rng, unit } = studio;
  const size = canvas.width;
  const ground = size * rng.uniform(0.78, 0.92);
  fillGradient(
    canvas,
    0,
    ground,
    shade(rng, 'sky', rng.uniform(140, 190)),
    shade(rng, 'cloud', rng.uniform(205, 235)),
  );
  paintSkyTexture(studio, ground);
  for (let row = 0; row < 2; row++) {
    let x = -rng.uniform(0, 30) * unit;
    while (x < size) {
      const width = unit * (row === 0 ? rng.uniform(35, 70) : rng.uniform(55, 120));
      const height = ground * (row === 0 ? rng.uniform(0.6, 0.92) : rng.uniform(0.35, 0.75));
      paintFront(studio, x, ground - height, width, height, row === 0);
      x += width + (rng.uniform() < 0.3 ? rng.uniform(4, 24) * unit : 0);
    }
  }
  fillPolygon(canvas, rectangle(0, ground, size, size - ground), {
    color: shade(rng, 'slate', rng.uniform(70, 120)),
    texture: studio.fine,
    amount: 0.12,
    shift: randomShift(studio),
  });
  for (let x = rng.uniform(0, 30) * unit; x < size; x += 46 * unit) {
    const y = ground + (size - ground) * 0.55;
    stroke(canvas, x, y, x + 24 * unit, y, 4 * unit, { color: [215, 213, 205] });
  }
  return ['building', 'window', 'street'];
};

function paintSkyTexture({ canvas, coarse }: Studio, bottom: number): void {
  const mask = coarse.size - 1;
  for (let y = 0; y < bottom; y++) {
    for (let x = 0; x < canvas.width; x++) {
      const light = 6 * coarse.data[(y & mask) * coarse.size + (x & mask)]!;
      const at = (y * canvas.width + x) * 3;
      for (let c = 0; c < 3; c++) canvas.data[at + c] = canvas.data[at + c]! + light;
    }
  }
}

function paintFront(studio: Studio, x: number, y: number, width: number, height: number, far: boolean): void {
  const { canvas, rng, unit } = studio;
  const material = rng.pick<Material>(['brick', 'plaster', 'stone', 'slate', 'paper', 'wood']);
  const color = shade(rng, material, far ? rng.uniform(120, 180) : rng.uniform(70, 185));
  const surface = { texture: studio.fine, amount: far ? 0.05 : 0.12, shift: randomShift(studio) };
  fillPolygon(canvas, rectangle(x, y, width, height), {
    color,
    slope: [-0.2 / width, 0],
    anchor: [x, y],
    ...surface,
  });
  if (!far && rng.uniform() < 0.5) {
    const roof: Rgb = shade(rng, rng.pick(['brick', 'slate']), rng.uniform(45, 90));
    const rise = rng.uniform(14, 36) * unit;
    fillPolygon(canvas, [x - 4 * unit, y, x + width / 2, y - rise, x + width + 4 * unit, y], {
      color: roof,
      ...surface,
    });
  }
  const columns = Math.max(2, Math.round(width / (unit * rng.uniform(14, 24))));
  const rows = Math.max(2, Math.round(height / (unit * rng.uniform(18, 30))));
  const cellWidth = width / columns;
  const cellHeight = height / rows;
  const glass = shade(rng, 'blue', rng.uniform(35, 75));
  const frame: Rgb = [color[0] * 0.55 + 95, color[1] * 0.55 + 95, color[2] * 0.55 + 95];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const left = x + (column + 0.24) * cellWidth;
      const top = y + (row + 0.22) * cellHeight;
      const pane = rectangle(left, top, cellWidth * 0.54, cellHeight * 0.56);
      const lit = rng.uniform() < 0.15;
      fillPolygon(canvas, pane, {
        color: lit ? [225, 205, 150] : glass,
        slope: [0, 0.5 / cellHeight],
        anchor: [0, top],
      });
      if (!far)
        stroke(
          canvas,
          left,
          top + cellHeight * 0.58,
          left + cellWidth * 0.54,
          top + cellHeight * 0.58,
          2.4 * unit,
          { color: frame },
        );
    }
  }
}
