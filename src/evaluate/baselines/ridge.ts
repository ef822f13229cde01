import { InputError, type Rng } from '../../core/index.ts';

/** A linear map of features, with what it takes to apply it. */
export interface RidgeModel {
  /** Of each feature over the training rows; a feature that never varies has weight 0. */
  means: number[];
  scales: number[];
  weights: number[];
  /** Mean of the targets. */
  intercept: number;
  lambda: number;
}

/** Strengths tried, times the number of rows. */
const LAMBDAS = [1e-4, 1e-3, 1e-2, 1e-1, 1, 10];
const FOLDS = 5;

/**
 * Ridge regression on standardised features: minimises the sum of squares plus lambda n |w|^2, the intercept free.
 *
 * @param rows [n][d]
 * @param targets [n]
 */
export function fitRidge(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  lambda: number,
): RidgeModel {
  const n = rows.length;
  const d = rows[0]?.length ?? 0;
  if (n < 2) throw new InputError(`a fit needs at least 2 images with a MOS, got ${n}`);
  const means = Array.from({ length: d }, (_, j) => rows.reduce((sum, row) => sum + row[j]!, 0) / n);
  const scales = means.map((mean, j) =>
    Math.sqrt(rows.reduce((sum, row) => sum + (row[j]! - mean) ** 2, 0) / n),
  );
  const standard = rows.map((row) => standardised(row, means, scales));
  const intercept = targets.reduce((sum, target) => sum + target, 0) / n;
  const matrix = Array.from({ length: d }, (_, i) =>
    Array.from({ length: d }, (_unused, j) => {
      const product = standard.reduce((sum, row) => sum + row[i]! * row[j]!, 0);
      return product / n + (i === j ? lambda : 0);
    }),
  );
  const right = Array.from(
    { length: d },
    (_, i) => standard.reduce((sum, row, k) => sum + row[i]! * (targets[k]! - intercept), 0) / n,
  );
  return { means, scales, weights: solvePositive(matrix, right), intercept, lambda };
}

export const applyRidge = (
  { means, scales, weights, intercept }: RidgeModel,
  row: readonly number[],
): number => standardised(row, means, scales).reduce((sum, value, j) => sum + value * weights[j]!, intercept);

/** The strength with the least squared error over five folds of groups drawn by `rng`, fitted on all rows. */
export function chooseRidge(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  groups: readonly string[],
  rng: Rng,
): RidgeModel {
  const names = rng.shuffle([...new Set(groups)].sort());
  const foldOf = new Map(names.map((group, i) => [group, i % FOLDS]));
  const inFold = groups.map((group) => foldOf.get(group)!);
  const folds = Math.min(FOLDS, names.length);
  if (folds < 2) return fitRidge(rows, targets, 1);
  const errors = LAMBDAS.map((lambda) => {
    let error = 0;
    for (let fold = 0; fold < folds; fold++) {
      const rest = inFold.flatMap((other, i) => (other === fold ? [] : [i]));
      if (rest.length < 2) return Number.POSITIVE_INFINITY;
      const model = fitRidge(
        rest.map((i) => rows[i]!),
        rest.map((i) => targets[i]!),
        lambda,
      );
      inFold.forEach((other, i) => {
        if (other === fold) error += (applyRidge(model, rows[i]!) - targets[i]!) ** 2;
      });
    }
    return error;
  });
  return fitRidge(rows, targets, LAMBDAS[errors.indexOf(Math.min(...errors))]!);
}

const standardised = (
  row: readonly number[],
  means: readonly number[],
  scales: readonly number[],
): number[] => row.map((value, j) => (scales[j]! > 0 ? (value - means[j]!) / scales[j]! : 0));

/** Solves A x = b for a symmetric positive definite A by Cholesky's decomposition. */
function solvePositive(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const d = right.length;
  const lower = matrix.map((row) => [...row]);
  for (let j = 0; j < d; j++) {
    for (let i = j; i < d; i++) {
      let sum = matrix[i]![j]!;
      for (let k = 0; k < j; k++) sum -= lower[i]![k]! * lower[j]![k]!;
      if (i === j && !(sum > 0)) throw new InputError('the features of the training images are not finite');
      lower[i]![j] = i === j ? Math.sqrt(sum) : sum / lower[j]![j]!;
    }
  }
  const y: number[] = [];
  for (let i = 0; i < d; i++) {
    let sum = right[i]!;
    for (let k = 0; k < i; k++) sum -= lower[i]![k]! * y[k]!;
    y.push(sum / lower[i]![i]!);
  }
  const x: number[] = new Array(d).fill(0);
  for (let i = d - 1; i >= 0; i--) {
    let sum = y[i]!;
    for (let k = i + 1; k < d; k++) sum -= lower[k]![i]! * x[k]!;
    x[i] = sum / lower[i]![i]!;
  }
  return x;
}
