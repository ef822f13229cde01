import { drawText, GLYPH_NAMES, textWidth } from './glyphs.ts';
import { ellipse, fillPolygon, rectangle } from './paint.ts';
import { type Painter, randomShift, type Studio, scaleInvariantRadius } from './painter.ts';
import { type Material, shade } from './palette.ts';

/** A poster: panels of several tones with lettering of several sizes, lines of small print and a picture. */
export const paintSign: Painter = (studio) => {
  const { canvas, rng, unit } = studio;
  const size = canvas.width;
  fillPolygon(canvas, rectangle(0, 0, size, size), {
    color: shade(rng, rng.pick(['paper', 'plaster', 'stone', 'cloud']), rng.uniform(165, 215)),
    texture: studio.fine,
    amount: rng.uniform(0.02, 0.06),
    slope: [rng.uniform(-0.2, 0.2) / size, rng.uniform(-0.2, 0.2) / size],
    anchor: [size / 2, size / 2],
  });
  let y = rng.uniform(-20, 10) * unit;
  while (y < size) {
    const kind = rng.pick(['banner', 'print', 'picture', 'print'] as const);
    const height = unit * (kind === 'banner' ? rng.uniform(40, 70) : rng.uniform(60, 110));
    if (kind === 'banner') paintBanner(studio, y, height);
    else if (kind === 'print') paintPrint(studio, y, height);
    else paintPicture(studio, y, height);
    y += height + rng.uniform(4, 14) * unit;
  }
  return ['text', 'panel'];
};

const word = ({ rng }: Studio, letters: number): string =>
  Array.from({ length: letters }, () => rng.pick(GLYPH_NAMES)).join('');

function paintBanner(studio: Studio, y: number, height: number): void {
  const { canvas, rng, unit } = studio;
  const dark = rng.uniform() < 0.65;
  const material = rng.pick<Material>(['red', 'blue', 'teal', 'slate', 'wood', 'yellow', 'leaf']);
  fillPolygon(canvas, rectangle(0, y, canvas.width, height), {
    color: shade(rng, material, dark ? rng.uniform(45, 95) : rng.uniform(150, 200)),
    texture: studio.fine,
    amount: 0.03,
    shift: randomShift(studio),
  });
  const text = word(studio, 4 + rng.integer(6));
  const letterHeight = Math.min(height * 0.62, (canvas.width * 1.15) / textWidth(text));
  drawText(
    canvas,
    text,
    rng.uniform(-10, 30) * unit,
    y + (height - letterHeight) / 2,
    letterHeight,
    letterHeight * rng.uniform(0.1, 0.2),
    {
      color: dark ? [236, 233, 226] : [28, 26, 30],
    },
  );
}

function paintPrint(studio: Studio, y: number, height: number): void {
  const { canvas, rng, unit } = studio;
  const letterHeight = unit * rng.uniform(10, 19);
  const ink = shade(rng, 'slate', rng.uniform(20, 60));
  for (let line = y + 6 * unit; line + letterHeight < y + height; line += letterHeight * 1.65) {
    let x = 10 * unit;
    const end = canvas.width * rng.uniform(0.7, 1);
    while (x < end) {
      const text = word(studio, 2 + rng.integer(7));
      drawText(canvas, text, x, line, letterHeight, letterHeight * 0.15, { color: ink });
      x += (textWidth(text) + 0.8) * letterHeight;
    }
  }
}

function paintPicture(studio: Studio, y: number, height: number): void {
  const { canvas, rng, unit } = studio;
  const left = rng.uniform(8, 60) * unit;
  const width = canvas.width - left - rng.uniform(8, 60) * unit;
  fillPolygon(canvas, rectangle(left, y, width, height), {
    color: shade(rng, 'sky', 120),
    texture: studio.coarse,
    amount: 0.25,
  });
  for (let i = 0; i < 34; i++) {
    const r = Math.min(height / 2.2, unit * scaleInvariantRadius(rng, 6, 40));
    const centre = [left + rng.uniform(r, width - r), y + rng.uniform(r, height - r)] as const;
    fillPolygon(canvas, ellipse(centre[0], centre[1], r, r), {
      color: shade(rng, rng.pick(['leaf', 'earth', 'red', 'stone', 'yellow', 'blue']), rng.uniform(40, 190)),
      texture: studio.fine,
      amount: 0.12,
      shift: randomShift(studio),
      slope: [-0.2 / r, -0.25 / r],
      anchor: centre,
    });
  }
}
