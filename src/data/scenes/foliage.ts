import { fillPolygon, rectangle, stroke } from './paint.ts';
import { type Painter, randomShift, scaleInvariantRadius } from './painter.ts';
import { shade } from './palette.ts';

/** Overlapping pointed leaves of all sizes with midribs: the dead leaves model with texture. */
export const paintFoliage: Painter = (studio) => {
  const { canvas, rng, unit } = studio;
  const size = canvas.width;
  fillPolygon(canvas, rectangle(0, 0, size, size), {
    color: shade(rng, 'leaf', 38),
    texture: studio.fine,
    amount: 0.3,
  });
  const main = rng.pick(['leaf', 'grass', 'autumn', 'teal'] as const);
  const other = rng.pick(['leaf', 'autumn', 'earth', 'yellow'] as const);
  const count = 230 + rng.integer(120);
  const lean = rng.uniform(0, 2 * Math.PI);
  for (let i = 0; i < count; i++) {
    // Later leaves lie on top and are lit; the first ones are in the shade.
    const depth = i / count;
    const length = unit * scaleInvariantRadius(rng, 13, 75);
    const x = rng.uniform(-20, size + 20);
    const y = rng.uniform(-20, size + 20);
    const angle = lean + rng.normal(0, 0.9);
    const breadth = rng.uniform(0.25, 0.5);
    const flower = rng.uniform() < 0.03;
    const material = flower
      ? rng.pick(['red', 'paper', 'yellow'] as const)
      : rng.uniform() < 0.75
        ? main
        : other;
    const tone = (flower ? 130 : 55) + 85 * depth * rng.uniform(0.5, 1.1) + rng.normal(0, 10);
    const color = shade(rng, material, tone);
    const light = rng.uniform(-0.25, 0.25) / length;
    fillPolygon(canvas, leafOutline(x, y, length, breadth, angle), {
      color,
      slope: [light * Math.sin(angle), -light * Math.cos(angle)],
      anchor: [x, y],
      texture: studio.fine,
      amount: 0.1,
      shift: randomShift(studio),
    });
    if (length > 14 * unit) {
      const cos = Math.cos(angle) * length;
      const sin = Math.sin(angle) * length;
      stroke(canvas, x - cos, y - sin, x + cos * 0.9, y + sin * 0.9, 1.6 * unit, {
        color: [color[0] * 1.35, color[1] * 1.35, color[2] * 1.3],
        opacity: 0.7,
      });
    }
  }
  return ['leaf'];
};

/** A leaf: half length, breadth relative to it, pointed at both ends. */
function leafOutline(x: number, y: number, length: number, breadth: number, angle: number): number[] {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const points: number[] = [];
  const steps = 9;
  for (let side = 1; side >= -1; side -= 2) {
    for (let i = 0; i < steps; i++) {
      const t = side * (-1 + (2 * i) / steps);
      const u = t * length;
      const v = side * breadth * length * Math.sin((Math.PI * (t + 1)) / 2) ** 1.2;
      points.push(x + u * cos - v * sin, y + u * sin + v * cos);
    }
  }
  return points;
}
