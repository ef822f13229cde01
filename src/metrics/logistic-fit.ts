import { levenbergMarquardt } from 'ml-levenberg-marquardt';
import { pearson } from './correlation.ts';
import {
  evaluateModel,
  isMonotone,
  type LogisticModel,
  PARAMETER_COUNT,
  publishedParameters,
  type Standardised,
  solveLinearPart,
} from './logistic-models.ts';
import {
  correlationProblem,
  type Numbers,
  pairProblem,
  type UndefinedBecause,
  undefinedBecause,
} from './result.ts';

/** Which way targets should move when scores rise: -1 for DMOS-like targets, where lower is better. */
export type Direction = 1 | -1;

export interface LogisticFit {
  status: 'ok';
  model: LogisticModel;
  /** b1 .. b4 or b1 .. b5, see `publishedParameters`. */
  parameters: number[];
  /** The mapped scores, on the scale of the targets, in the order given. */
  fitted: Float64Array;
  /** Pearson's r between mapped scores and targets, in [0, 1]. */
  plcc: number;
  /** Root mean squared residual, in the unit of the targets. */
  rmse: number;
  /** False when the five-parameter curve turns inside the data; it then rewards a predictor that ranks wrongly. */
  monotone: boolean;
}

export interface LogisticOptions {
  /** Default 1. A fit that runs the other way is refused: it would hide inverted scores or labels. */
  direction?: Direction;
}

const STARTS = 8;
const ROUNDS = 24;
const ITERATIONS_PER_ROUND = 20;
/** Rise of R^2 over one round below which a start counts as converged; it moves PLCC by less than that. */
const SETTLED = 1e-9;
const LARGEST_OFFSET = 300;
const LARGEST_LOG_STEEPNESS = 5;
/** The grid sees at most this many pairs. */
const GRID_POINTS = 1024;
const GRID_LOG_STEEPNESS = Array.from({ length: 20 }, (_, i) => -1.5 + i / 3);
/** From left to right: offset u = a * centre + beyond, in standard deviations of the scores. */
const GRID_PLACES = [
  { centre: -3, beyond: -10 },
  { centre: -3, beyond: -4 },
  ...Array.from({ length: 61 }, (_, i) => ({ centre: -3 + i / 10, beyond: 0 })),
  { centre: 3, beyond: 4 },
  { centre: 3, beyond: 10 },
];

/**
 * Least-squares logistic mapping from scores to targets: a coarse search, then Levenberg-Marquardt from the
 * best few starts. The answer has converged, or is refused with the reason.
 */
export function fitLogistic(
  scores: Numbers,
  targets: Numbers,
  model: LogisticModel,
  { direction = 1 }: LogisticOptions = {},
): LogisticFit | UndefinedBecause {
  const problem =
    pairProblem(scores, targets, PARAMETER_COUNT[model] + 1) ?? correlationProblem(scores, targets);
  if (problem !== undefined) return problem;

  const x = standardise(scores);
  const y = standardise(targets);
  const best = search(model, x.values, y.values);
  if (!best.settled) {
    return undefinedBecause(
      'fit-not-converged',
      `${model} was still improving after ${best.iterations} iterations`,
    );
  }
  const a = Math.exp(best.logSteepness);
  const part = solveLinearPart(model, x.values, y.values, a, best.offset);
  const fitted = x.values.map((value) => y.mean + y.std * evaluateModel(part, value, a, best.offset));
  const parameters = publishedParameters(model, part, a, best.offset, x, y);
  if (part.sigmoid === 0 && part.linear === 0) {
    return undefinedBecause('fit-not-converged', `${model} found no curve better than a constant`);
  }
  const slope = pearson(scores, fitted);
  if (slope * direction < 0) {
    return undefinedBecause(
      'fit-flips-sign',
      `targets ${direction > 0 ? 'fall' : 'rise'} as scores rise (correlation of curve and scores ${slope.toFixed(3)}), ` +
        `against the stated direction (targets are ${direction > 0 ? 'higher' : 'lower'}-better)`,
    );
  }
  let squared = 0;
  for (let i = 0; i < fitted.length; i++) squared += (fitted[i]! - targets[i]!) ** 2;
  const plcc = pearson(fitted, targets);
  const rmse = Math.sqrt(squared / fitted.length);
  if (![plcc, rmse, ...parameters].every(Number.isFinite)) {
    return undefinedBecause('not-finite', 'the values are too large to fit a curve to');
  }
  return {
    status: 'ok',
    model,
    parameters,
    fitted,
    plcc,
    rmse,
    monotone: isMonotone(part, x.values, a, best.offset),
  };
}

interface Start {
  logSteepness: number;
  offset: number;
  squaredError: number;
}

interface Candidate extends Start {
  settled: boolean;
  iterations: number;
}

function search(model: LogisticModel, x: Float64Array, y: Float64Array): Candidate {
  const candidates = coarseStarts(model, x, y).map((start) => refine(model, x, y, start));
  return candidates.reduce((best, next) => (next.squaredError < best.squaredError ? next : best));
}

/**
 * The best local minima of a grid over steepness and centre, centres beyond the data included: the best points
 * alone would be neighbours that lead to one and the same minimum.
 */
function coarseStarts(model: LogisticModel, x: Float64Array, y: Float64Array): Start[] {
  const stride = Math.ceil(x.length / GRID_POINTS);
  const someX = x.filter((_, i) => i % stride === 0);
  const someY = y.filter((_, i) => i % stride === 0);
  const grid = GRID_LOG_STEEPNESS.map((logSteepness) => {
    const a = Math.exp(logSteepness);
    return GRID_PLACES.map(({ centre, beyond }): Start => {
      const offset = a * centre + beyond;
      return { logSteepness, offset, squaredError: squaredError(model, someX, someY, a, offset) };
    });
  });
  const isLowest = (row: number, column: number): boolean => {
    const own = grid[row]![column]!.squaredError;
    for (const neighbours of grid.slice(Math.max(0, row - 1), row + 2)) {
      for (const { squaredError } of neighbours.slice(Math.max(0, column - 1), column + 2)) {
        if (squaredError < own) return false;
      }
    }
    return true;
  };
  return grid
    .flatMap((places, row) => places.filter((_, column) => isLowest(row, column)))
    .sort((one, other) => one.squaredError - other.squaredError)
    .slice(0, STARTS);
}

function squaredError(model: LogisticModel, x: Float64Array, y: Float64Array, a: number, u: number): number {
  const part = solveLinearPart(model, x, y, a, u);
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += (y[i]! - evaluateModel(part, x[i]!, a, u)) ** 2;
  return sum;
}

function refine(model: LogisticModel, x: Float64Array, y: Float64Array, start: Start): Candidate {
  const curve = ([logSteepness = 0, offset = 0]: number[]) => {
    const a = Math.exp(logSteepness);
    const part = solveLinearPart(model, x, y, a, offset);
    return (value: number) => evaluateModel(part, value, a, offset);
  };
  let point = [start.logSteepness, start.offset];
  let error = squaredError(model, x, y, Math.exp(start.logSteepness), start.offset);
  let iterations = 0;
  let settled = false;
  // The library has no stopping rule but its iteration count, so it runs in short rounds.
  for (let round = 0; round < ROUNDS && !settled; round++) {
    const result = levenbergMarquardt({ x, y }, curve, {
      initialValues: point,
      minValues: [-LARGEST_LOG_STEEPNESS, -LARGEST_OFFSET],
      maxValues: [LARGEST_LOG_STEEPNESS, LARGEST_OFFSET],
      damping: 1e-2,
      centralDifference: true,
      gradientDifference: 1e-4,
      maxIterations: ITERATIONS_PER_ROUND,
      errorTolerance: 1e-13 * x.length,
    });
    iterations += result.iterations;
    const improved = result.parameterError < error;
    // Standardised targets have a total squared deviation of n.
    settled = error - result.parameterError <= SETTLED * x.length;
    if (improved) {
      point = result.parameterValues;
      error = result.parameterError;
    }
  }
  const [logSteepness = 0, offset = 0] = point;
  return { logSteepness, offset, squaredError: error, settled, iterations };
}

function standardise(values: Numbers): Standardised & { values: Float64Array } {
  const n = values.length;
  let mean = 0;
  for (let i = 0; i < n; i++) mean += values[i]! / n;
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, Math.abs(values[i]! - mean));
  let sum = 0;
  for (let i = 0; i < n; i++) sum += ((values[i]! - mean) / largest) ** 2;
  const std = largest * Math.sqrt(sum / n);
  return { mean, std, values: Float64Array.from(values, (value) => (value - mean) / std) };
}
