import { ellipse, fillGradient, fillPolygon, rectangle, stroke } from './paint.ts';
import { type Painter, randomShift, type Studio } from './painter.ts';
import { mix, shade } from './palette.ts';

/** Sky with clouds, two to four ridges in aerial perspective, a textured foreground, sometimes trees. */
export const paintLandscape: Painter = (studio) => {
  const { canvas, rng, unit } = studio;
  const size = canvas.width;
  const horizon = size * rng.uniform(0.3, 0.55);
  const skyLow = shade(rng, 'cloud', rng.uniform(205, 230));
  fillGradient(canvas, 0, horizon, shade(rng, 'sky', rng.uniform(130, 175)), skyLow);
  fillGradient(canvas, horizon, size, skyLow, skyLow);
  paintClouds(studio, horizon, rng.uniform(-0.4, 0.9));

  const ridges = 2 + rng.integer(3);
  const near = shade(rng, rng.pick(['grass', 'leaf', 'earth', 'autumn']), rng.uniform(45, 85));
  for (let k = 0; k < ridges; k++) {
    const depth = (k + 1) / ridges;
    const base = horizon + (size - horizon) * 0.75 * (k / ridges);
    fillPolygon(canvas, ridgeLine(studio, base, (60 - 34 * depth) * unit), {
      color: mix(mix(skyLow, shade(rng, 'slate', 120), 0.6), near, depth),
      texture: studio.fine,
      amount: 0.05 + 0.19 * depth,
      shift: randomShift(studio),
    });
  }
  const elements = ['sky', 'hill'];
  if (rng.uniform() < 0.6) {
    const trees = 1 + rng.integer(4);
    for (let t = 0; t < trees; t++) paintTree(studio, rng.uniform(0, size), size * rng.uniform(0.7, 0.95));
    elements.push('tree');
  }
  const stones = 20 + rng.integer(50);
  for (let s = 0; s < stones; s++) {
    const y = size * (0.75 + 0.27 * Math.sqrt(rng.uniform()));
    const r = unit * rng.uniform(1.5, 7) * (0.4 + (y / size - 0.7) * 2);
    fillPolygon(canvas, ellipse(rng.uniform(0, size), y, r * 1.4, r), {
      color: shade(rng, rng.pick(['earth', 'stone', 'grass']), rng.uniform(40, 150), 2),
      slope: [-0.03 / unit, -0.04 / unit],
      anchor: [0, y],
    });
  }
  return elements;
};

function paintClouds({ canvas, coarse, rng }: Studio, bottom: number, cover: number): void {
  const shift = rng.integer(coarse.size);
  const mask = coarse.size - 1;
  for (let y = 0; y < Math.min(canvas.height, bottom + 40); y++) {
    for (let x = 0; x < canvas.width; x++) {
      // Clouds flatten towards the horizon: stretch the field sideways there.
      const value = coarse.data[((y * 2 + shift) & mask) * coarse.size + ((x + shift) & mask)]!;
      const t = Math.max(0, Math.min(1, (value + cover) * 0.7));
      const at = (y * canvas.width + x) * 3;
      for (let c = 0; c < 3; c++)
        canvas.data[at + c] = canvas.data[at + c]! + 0.8 * t * (238 - canvas.data[at + c]!);
    }
  }
}

/** A fractal skyline (octaves of sines with amplitude 1/f) closed along the lower edge. */
function ridgeLine({ canvas, rng }: Studio, base: number, height: number): number[] {
  const octaves = Array.from({ length: 7 }, (_, k) => ({
    phase: rng.uniform(0, 2 * Math.PI),
    frequency: (2 ** k * rng.uniform(0.7, 1.3)) / canvas.width,
    amplitude: height / 2 ** k,
  }));
  const points = [0, canvas.height, 0, base];
  const step = canvas.width / 80;
  for (let x = 0; x <= canvas.width; x += step) {
    let y = base;
    for (const { phase, frequency, amplitude } of octaves) {
      y -= amplitude * Math.sin(2 * Math.PI * frequency * x + phase) * 0.6;
    }
    points.push(x, y);
  }
  points.push(canvas.width, canvas.height);
  return points;
}

function paintTree(studio: Studio, x: number, foot: number): void {
  const { canvas, rng, unit } = studio;
  const height = unit * rng.uniform(50, 130);
  const trunk = shade(rng, 'wood', rng.uniform(35, 70));
  fillPolygon(canvas, rectangle(x - height * 0.035, foot - height * 0.6, height * 0.07, height * 0.6), {
    color: trunk,
    texture: studio.fine,
    amount: 0.2,
  });
  const crown = rng.pick(['leaf', 'grass', 'autumn'] as const);
  for (let i = 0; i < 6; i++) {
    const angle = rng.uniform(-2.6, -0.5);
    const length = height * rng.uniform(0.2, 0.4);
    const y = foot - height * 0.55;
    stroke(canvas, x, y, x + Math.cos(angle) * length, y + Math.sin(angle) * length, 2 * unit, {
      color: trunk,
    });
  }
  for (let i = 0; i < 34; i++) {
    const angle = rng.uniform(0, 2 * Math.PI);
    const distance = Math.sqrt(rng.uniform()) * height * 0.32;
    const y = foot - height * 0.72 + Math.sin(angle) * distance;
    const r = height * rng.uniform(0.04, 0.12);
    fillPolygon(canvas, ellipse(x + Math.cos(angle) * distance, y, r, r * 0.7, angle), {
      // Leaves nearer the top of the crown catch more light.
      color: shade(rng, crown, 105 - (55 * (y - foot + height)) / height + rng.normal(0, 12)),
      texture: studio.fine,
      amount: 0.16,
      shift: randomShift(studio),
    });
  }
}
