import { fillPolygon, rectangle } from './paint.ts';
import { type Painter, randomShift, scaleInvariantRadius } from './painter.ts';
import { shade } from './palette.ts';

/** A bed of rounded stones lit from the upper left, each with its shadow and grain. */
export const paintPebbles: Painter = (studio) => {
  const { canvas, rng, unit } = studio;
  const size = canvas.width;
  fillPolygon(canvas, rectangle(0, 0, size, size), {
    color: shade(rng, 'earth', 60),
    texture: studio.fine,
    amount: 0.35,
  });
  const biggest = rng.uniform(28, 70);
  const count = Math.round(rng.uniform(200, 300) * (40 / biggest));
  for (let i = 0; i < count; i++) {
    const radius = unit * scaleInvariantRadius(rng, 9, biggest);
    const x = rng.uniform(-10, size + 10);
    const y = rng.uniform(-10, size + 10);
    const outline = stoneOutline(rng.uniform(0, 2 * Math.PI), radius, rng.uniform(0.65, 1), () =>
      rng.normal(0, 0.045),
    );
    const place = (dx: number, dy: number, scale: number) =>
      outline.map((value, k) => value * scale + (k % 2 === 0 ? x + dx : y + dy));
    fillPolygon(canvas, place(radius * 0.12, radius * 0.16, 1.06), { color: [12, 11, 12], opacity: 0.6 });
    const material = rng.pick(['stone', 'stone', 'slate', 'plaster', 'earth', 'brick'] as const);
    const fall = 0.33 / radius;
    fillPolygon(canvas, place(0, 0, 1), {
      color: shade(rng, material, rng.uniform(70, 185)),
      slope: [-fall * 0.7, -fall],
      anchor: [x, y],
      texture: studio.fine,
      amount: rng.uniform(0.05, 0.16),
      shift: randomShift(studio),
    });
  }
  return ['stone'];
};

function stoneOutline(angle: number, radius: number, flatness: number, wobble: () => number): number[] {
  const count = Math.max(12, Math.min(36, Math.round(radius / 2)));
  const second = wobble();
  const third = wobble();
  const phase = angle * 3;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const points: number[] = [];
  for (let i = 0; i < count; i++) {
    const t = (2 * Math.PI * i) / count;
    const r = radius * (1 + second * Math.cos(2 * t + phase) + third * Math.cos(3 * t - phase));
    const u = r * Math.cos(t);
    const v = r * flatness * Math.sin(t);
    points.push(u * cos - v * sin, u * sin + v * cos);
  }
  return points;
}
