/**
 * The 9/7 wavelet of Cohen, Daubechies and Feauveau (1992) by lifting (Daubechies and Sweldens 1998): the
 * irreversible transform of JPEG 2000 (ISO/IEC 15444-1, annex F), scaled so that it nearly keeps energy.
 */
const LIFTS = [-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971] as const;
const LOW_SCALE = Math.SQRT2 / 1.230174104914001;

/** One step on a line in place; the low half comes first, ceil(n / 2) values. */
function forwardLine(line: Float64Array, scratch: Float64Array, n: number): void {
  if (n < 2) return;
  LIFTS.forEach((factor, step) => {
    lift(line, n, 1 - (step % 2), factor);
  });
  const half = (n + 1) >> 1;
  for (let i = 0; i < n; i++) {
    scratch[i % 2 === 0 ? i >> 1 : half + (i >> 1)] =
      i % 2 === 0 ? line[i]! * LOW_SCALE : line[i]! / LOW_SCALE;
  }
  line.set(scratch.subarray(0, n));
}

function inverseLine(line: Float64Array, scratch: Float64Array, n: number): void {
  if (n < 2) return;
  const half = (n + 1) >> 1;
  for (let i = 0; i < n; i++) {
    scratch[i] = i % 2 === 0 ? line[i >> 1]! / LOW_SCALE : line[half + (i >> 1)]! * LOW_SCALE;
  }
  line.set(scratch.subarray(0, n));
  for (let step = LIFTS.length - 1; step >= 0; step--) lift(line, n, 1 - (step % 2), -LIFTS[step]!);
}

/** Adds to every second value the sum of its neighbours; the line is mirrored about its end values. */
function lift(line: Float64Array, n: number, first: number, factor: number): void {
  for (let i = first; i < n; i += 2) {
    const left = line[i === 0 ? 1 : i - 1]!;
    const right = line[i === n - 1 ? n - 2 : i + 1]!;
    line[i] = line[i]! + factor * (left + right);
  }
}

type LineStep = (line: Float64Array, scratch: Float64Array, n: number) => void;

function alongRows(plane: Float64Array, stride: number, width: number, height: number, step: LineStep): void {
  const scratch = new Float64Array(width);
  for (let y = 0; y < height; y++) step(plane.subarray(y * stride, y * stride + width), scratch, width);
}

function alongColumns(
  plane: Float64Array,
  stride: number,
  width: number,
  height: number,
  step: LineStep,
): void {
  const scratch = new Float64Array(height);
  const column = new Float64Array(height);
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) column[y] = plane[y * stride + x]!;
    step(column, scratch, height);
    for (let y = 0; y < height; y++) plane[y * stride + x] = column[y]!;
  }
}

/** Sizes of the low band before each level, the whole plane first; no level below 8 pixels. */
export function bandSizes(
  width: number,
  height: number,
  levels: number,
): { width: number; height: number }[] {
  const sizes: { width: number; height: number }[] = [];
  for (let level = 0; level < levels && Math.min(width, height) >= 8; level++) {
    sizes.push({ width, height });
    width = (width + 1) >> 1;
    height = (height + 1) >> 1;
  }
  return sizes;
}

/** Transforms a plane in place; the low band of the last level ends up in the upper left corner. */
export function forwardWavelet(plane: Float64Array, width: number, height: number, levels: number): void {
  for (const size of bandSizes(width, height, levels)) {
    alongRows(plane, width, size.width, size.height, forwardLine);
    alongColumns(plane, width, size.width, size.height, forwardLine);
  }
}

export function inverseWavelet(plane: Float64Array, width: number, height: number, levels: number): void {
  for (const size of bandSizes(width, height, levels).reverse()) {
    alongColumns(plane, width, size.width, size.height, inverseLine);
    alongRows(plane, width, size.width, size.height, inverseLine);
  }
}
