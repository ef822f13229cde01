import { filtered, halved, type Plane } from './luma.ts';

/**
 * Natural-scene statistics in the spatial domain, the 36 features of BRISQUE: A. Mittal, A. K. Moorthy, A. C. Bovik,
 * "No-reference image quality assessment in the spatial domain", IEEE TIP 21 (2012), section III. At two scales,
 * shape and variance of the normalised luminance, and shape, mean and both variances of the products of neighbours
 * in four directions. Our halving takes means of 2 x 2 blocks where theirs is bicubic.
 */

const KERNEL = gaussian(3, 7 / 6);
/** C of their eq. 1, on the scale 0 to 255. */
const STABILISER = 1;

function gaussian(reach: number, sigma: number): number[] {
  const weights = Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-((i - reach) ** 2) / (2 * sigma ** 2)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Mean-subtracted, contrast-normalised luminance (eq. 1 to 3): (I - mu) / (sigma + 1), local with a 7 x 7 Gaussian. */
export function normalisedLuminance(plane: Plane): Plane {
  const mean = filtered(plane, KERNEL).data;
  const square = filtered({ ...plane, data: plane.data.map((value) => value * value) }, KERNEL).data;
  const data = plane.data.map((value, i) => {
    const deviation = Math.sqrt(Math.abs(square[i]! - mean[i]! ** 2));
    return (value - mean[i]!) / (deviation + STABILISER);
  });
  return { ...plane, data };
}

/** Shapes tried, 0.2 to 10 in steps of 0.001 as in the authors' own fit. */
const SHAPES = Float64Array.from({ length: 9801 }, (_, i) => 0.2 + i / 1000);
/** Gamma(2/a)^2 / (Gamma(1/a) Gamma(3/a)), rising in a. */
const RATIOS = SHAPES.map((a) => Math.exp(2 * logGamma(2 / a) - logGamma(1 / a) - logGamma(3 / a)));

/** The shape whose ratio is nearest to `ratio`, by bisection. */
function shapeOf(ratio: number): number {
  let [low, high] = [0, RATIOS.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (RATIOS[middle]! < ratio) low = middle;
    else high = middle;
  }
  return ratio - RATIOS[low]! < RATIOS[high]! - ratio ? SHAPES[low]! : SHAPES[high]!;
}

/** Generalised Gaussian by moments (eq. 4): shape 2 is a normal, 1 a Laplace distribution. Variance about 0. */
export function fitGeneralisedGaussian(values: Float64Array): { shape: number; variance: number } {
  let [square, absolute] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    square += value * value;
    absolute += Math.abs(value);
  }
  const variance = square / values.length;
  if (variance === 0) return { shape: SHAPES.at(-1)!, variance };
  return { shape: shapeOf((absolute / values.length) ** 2 / variance), variance };
}

/** Asymmetric generalised Gaussian by moments (eq. 10 to 13 and Lasmar et al., 2009). */
export function fitAsymmetricGaussian(values: Float64Array): {
  shape: number;
  mean: number;
  leftVariance: number;
  rightVariance: number;
} {
  let [left, right, absolute, leftCount, rightCount] = [0, 0, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    absolute += Math.abs(value);
    if (value < 0) {
      left += value * value;
      leftCount++;
    } else if (value > 0) {
      right += value * value;
      rightCount++;
    }
  }
  const leftVariance = leftCount === 0 ? 0 : left / leftCount;
  const rightVariance = rightCount === 0 ? 0 : right / rightCount;
  const square = (left + right) / values.length;
  if (leftVariance === 0 || rightVariance === 0) {
    return { shape: SHAPES.at(-1)!, mean: 0, leftVariance, rightVariance };
  }
  const gamma = Math.sqrt(leftVariance / rightVariance);
  const ratio = (absolute / values.length) ** 2 / square;
  const shape = shapeOf((ratio * (gamma ** 3 + 1) * (gamma + 1)) / (gamma ** 2 + 1) ** 2);
  const scale = Math.exp(0.5 * (logGamma(1 / shape) - logGamma(3 / shape)));
  const spread = (Math.sqrt(rightVariance) - Math.sqrt(leftVariance)) * scale;
  return {
    shape,
    mean: spread * Math.exp(logGamma(2 / shape) - logGamma(1 / shape)),
    leftVariance,
    rightVariance,
  };
}

/** To the right, below, and the two diagonals below. */
const NEIGHBOURS: readonly (readonly [dx: number, dy: number])[] = [
  [1, 0],
  [0, 1],
  [1, 1],
  [-1, 1],
];

function products({ data, width, height }: Plane, [dx, dy]: readonly [number, number]): Float64Array {
  const values = new Float64Array((width - Math.abs(dx)) * (height - dy));
  let n = 0;
  for (let y = 0; y < height - dy; y++) {
    for (let x = Math.max(0, -dx); x < width - Math.max(0, dx); x++) {
      values[n++] = data[y * width + x]! * data[(y + dy) * width + x + dx]!;
    }
  }
  return values;
}

/** 18 features of one scale, then 18 of half of it. */
export function sceneStatistics(luma: Plane): number[] {
  return [luma, halved(luma)].flatMap((plane) => {
    const normalised = normalisedLuminance(plane);
    const { shape, variance } = fitGeneralisedGaussian(normalised.data);
    const pairs = NEIGHBOURS.flatMap((direction) => {
      const fit = fitAsymmetricGaussian(products(normalised, direction));
      return [fit.shape, fit.mean, fit.leftVariance, fit.rightVariance];
    });
    return [shape, variance, ...pairs];
  });
}

/** Lanczos' approximation (g = 7, 9 terms), for x > 0; relative error below 1e-13. */
export function logGamma(x: number): number {
  const terms = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  const sum = terms.reduce((total, term, i) => (i === 0 ? term : total + term / (shifted + i)), 0);
  const t = shifted + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(sum);
}
