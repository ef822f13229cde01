import { ellipse, fillGradient, fillPolygon, type Rgb, rectangle } from './paint.ts';
import { type Painter, randomShift, type Studio } from './painter.ts';
import { type Material, mix, shade } from './palette.ts';

const MATERIALS: readonly Material[] = [
  'red',
  'blue',
  'teal',
  'yellow',
  'wood',
  'plaster',
  'slate',
  'leaf',
  'stone',
];

/** A still life: balls, boxes and cylinders on a table before a wall. */
export const paintObjects: Painter = (studio) => {
  const { canvas, rng, unit } = studio;
  const size = canvas.width;
  const edge = size * rng.uniform(0.35, 0.5);
  const wall = shade(rng, rng.pick(['plaster', 'slate', 'stone', 'sky']), rng.uniform(120, 190));
  fillGradient(canvas, 0, edge, wall, mix(wall, [30, 30, 34], rng.uniform(0.1, 0.5)));
  fillPolygon(canvas, rectangle(0, edge, size, size - edge), {
    color: shade(rng, rng.pick(['wood', 'paper', 'slate']), rng.uniform(80, 170)),
    slope: [0, 0.35 / (size - edge)],
    anchor: [0, edge],
    texture: studio.fine,
    amount: rng.uniform(0.03, 0.14),
    shift: randomShift(studio),
  });
  if (rng.uniform() < 0.5) paintCloth(studio, edge);
  const elements = new Set<string>(['table']);
  const count = 4 + rng.integer(6);
  for (let i = 0; i < count; i++) {
    const foot = edge + (size - edge) * (0.08 + (0.85 * (i + rng.uniform())) / count);
    const radius = unit * rng.uniform(22, 58) * (0.55 + 0.5 * (foot / size));
    const x = rng.uniform(0.02, 0.98) * size;
    const color = shade(rng, rng.pick(MATERIALS), rng.uniform(60, 190), 2);
    fillPolygon(canvas, ellipse(x + radius * 0.45, foot, radius * 1.35, radius * 0.28), {
      color: [8, 8, 10],
      opacity: 0.5,
    });
    const kind = rng.pick(['ball', 'box', 'cylinder'] as const);
    elements.add(kind);
    if (kind === 'ball') paintBall(studio, x, foot, radius, color);
    else if (kind === 'box') paintBox(studio, x, foot, radius, color);
    else paintCylinder(studio, x, foot, radius, color);
  }
  return [...elements];
};

/** Stripes running towards the vanishing point, as on a table cloth. */
function paintCloth({ canvas, rng }: Studio, edge: number): void {
  const size = canvas.width;
  const color = shade(rng, rng.pick(['red', 'blue', 'paper', 'leaf']), rng.uniform(90, 200));
  const stripes = 6 + rng.integer(9);
  for (let i = 0; i < stripes; i++) {
    const a = ((i + 0.1) / stripes) * 2 - 0.5;
    const b = ((i + 0.5) / stripes) * 2 - 0.5;
    const top = (t: number) => size * (0.5 + (t - 0.5) * 0.55);
    fillPolygon(canvas, [top(a), edge, top(b), edge, b * size, size, a * size, size], {
      color,
      opacity: 0.6,
    });
  }
}

function paintBall(studio: Studio, x: number, foot: number, radius: number, color: Rgb): void {
  const y = foot - radius;
  const shift = randomShift(studio);
  const amount = studio.rng.uniform(0, 0.1);
  // Nested discs shrinking towards the light give the rounded falloff.
  const rings = 9;
  for (let ring = 0; ring < rings; ring++) {
    const t = ring / (rings - 1);
    const r = radius * (1 - 0.93 * t);
    const light = 0.45 + 0.75 * Math.sin((t * Math.PI) / 2);
    fillPolygon(studio.canvas, ellipse(x - (radius - r) * 0.38, y - (radius - r) * 0.42, r, r), {
      color: [color[0] * light, color[1] * light, color[2] * light],
      texture: studio.fine,
      amount,
      shift,
    });
  }
  fillPolygon(studio.canvas, ellipse(x - radius * 0.36, y - radius * 0.4, radius * 0.09, radius * 0.07), {
    color: [245, 245, 243],
    opacity: 0.8,
  });
}

function paintBox(studio: Studio, x: number, foot: number, radius: number, color: Rgb): void {
  const { canvas, rng } = studio;
  const height = radius * rng.uniform(0.9, 2.2);
  const depth = radius * rng.uniform(0.3, 0.6);
  const left = x - radius;
  const top = foot - height;
  const face = (light: number): Rgb => [color[0] * light, color[1] * light, color[2] * light];
  const surface = { texture: studio.fine, amount: rng.uniform(0.02, 0.12), shift: randomShift(studio) };
  fillPolygon(canvas, rectangle(left, top, radius * 1.6, height), { color: face(0.9), ...surface });
  fillPolygon(
    canvas,
    [
      left,
      top,
      left + depth,
      top - depth * 0.6,
      left + radius * 1.6 + depth,
      top - depth * 0.6,
      left + radius * 1.6,
      top,
    ],
    { color: face(1.25), ...surface },
  );
  const right = left + radius * 1.6;
  fillPolygon(
    canvas,
    [right, top, right + depth, top - depth * 0.6, right + depth, foot - depth * 0.6, right, foot],
    { color: face(0.5), ...surface },
  );
  if (rng.uniform() < 0.6) {
    fillPolygon(canvas, rectangle(left + radius * 0.25, top + height * 0.3, radius * 1.1, height * 0.35), {
      color: shade(rng, rng.pick(MATERIALS), rng.uniform(60, 210)),
    });
  }
}

function paintCylinder(studio: Studio, x: number, foot: number, radius: number, color: Rgb): void {
  const { canvas, rng } = studio;
  const r = radius * 0.65;
  const height = radius * rng.uniform(1.4, 3);
  const lid = r * 0.3;
  const surface = { texture: studio.fine, amount: rng.uniform(0.02, 0.08), shift: randomShift(studio) };
  const strips = 14;
  for (let i = 0; i < strips; i++) {
    const a = -1 + (2 * i) / strips;
    const light = 0.42 + 0.8 * Math.exp(-((a + 0.35) ** 2) / 0.35);
    const bend = lid * Math.sqrt(Math.max(0, 1 - (a + 1 / strips) ** 2));
    fillPolygon(canvas, rectangle(x + a * r, foot - height, (2 * r) / strips + 0.6, height - lid + bend), {
      color: [color[0] * light, color[1] * light, color[2] * light],
      ...surface,
    });
  }
  fillPolygon(canvas, ellipse(x, foot - height, r, lid), {
    color: [color[0] * 1.15, color[1] * 1.15, color[2] * 1.15],
    ...surface,
  });
}
