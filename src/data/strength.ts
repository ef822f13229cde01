/** Distortion strengths are continuous; the five levels are their rounded values. */
export const STRENGTH_RANGE = { lowest: 0.5, highest: 5.5 } as const;

export type DistortionLevel = 1 | 2 | 3 | 4 | 5;

export const levelOfStrength = (strength: number): DistortionLevel =>
  Math.max(1, Math.min(5, Math.round(strength))) as DistortionLevel;

/** Values of a parameter at strengths 0, 1, 2, 3, 4, 5. */
export type StrengthCurve = readonly [number, number, number, number, number, number];

/** Piecewise linear through the six knots; above 5 the last piece goes on. `strength` is in [0, 5.5]. */
export function atStrength(curve: StrengthCurve, strength: number): number {
  if (!(strength >= 0 && strength <= STRENGTH_RANGE.highest)) {
    throw new RangeError(`distortion strength must be 0 to ${STRENGTH_RANGE.highest}, got ${strength}`);
  }
  const piece = Math.min(4, Math.floor(strength));
  const low = curve[piece]!;
  return low + (strength - piece) * (curve[piece + 1]! - low);
}
