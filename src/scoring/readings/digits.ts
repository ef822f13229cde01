import type { Tokenizer } from '../../core/index.ts';
import {
  appendTokens,
  disposeImageFeatures,
  encodeImageFeatures,
  lastTokenLogProbabilities,
  type Sequence,
  type VisionLanguageModel,
} from '../../model/index.ts';
import { type Distribution, distributionOf, softmax } from './distribution.ts';

const FIRST_DIGITS = [1, 2, 3, 4, 5];
const DIGITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
/** A first digit less probable than this is not followed further: it moves the mean by less than 5e-6. */
const NEGLIGIBLE = 1e-6;

/**
 * Mean and standard deviation of the score, the third digit at its mean.
 *
 * @param first log-probabilities of the first digits 1 to 5, up to a constant
 * @param second for each of these, log-probabilities of the digits 0 to 9 after the point, up to a constant; null
 *   for a first digit that is left out
 */
export function scoreDistribution(
  first: readonly number[],
  second: readonly (readonly number[] | null)[],
): Distribution {
  const values: number[] = [];
  const weights: number[] = [];
  softmax(first).forEach((p1, i) => {
    const after = second[i] ?? null;
    if (after === null) return;
    softmax(after).forEach((p2, d2) => {
      values.push(Math.min(5, FIRST_DIGITS[i]! + d2 / 10 + 0.045));
      weights.push(p1 * p2);
    });
  });
  return distributionOf(values, weights, 0.1);
}

/** The score distribution over the digits that may follow each stem, which ends where the number begins. */
export async function digitDistributions(
  model: VisionLanguageModel,
  stems: readonly Sequence[],
): Promise<Distribution[]> {
  if (stems.length === 0) return [];
  const ids = DIGITS.map((digit) => digitId(model.tokenizer, digit));
  const point = model.tokenizer.encode('.');
  const imageFeatures = encodeImageFeatures(model, new Set(stems.flatMap(({ images }) => images)));
  try {
    const after = await lastTokenLogProbabilities(model, stems, { imageFeatures });
    const first = after.map((row) => FIRST_DIGITS.map((digit) => row[ids[digit]!]!));
    const branches = first.flatMap((logProbabilities, stem) =>
      softmax(logProbabilities).flatMap((p, i) => (p < NEGLIGIBLE ? [] : [{ stem, i }])),
    );
    const rows = await lastTokenLogProbabilities(
      model,
      branches.map(({ stem, i }) => appendTokens(stems[stem]!, [ids[FIRST_DIGITS[i]!]!, ...point], 'action')),
      { imageFeatures },
    );
    const second: (number[] | null)[][] = stems.map(() => FIRST_DIGITS.map(() => null));
    branches.forEach(({ stem, i }, branch) => {
      second[stem]![i] = ids.map((id) => rows[branch]![id]!);
    });
    return first.map((logProbabilities, stem) => scoreDistribution(logProbabilities, second[stem]!));
  } finally {
    disposeImageFeatures(imageFeatures);
  }
}

function digitId(tokenizer: Tokenizer, digit: number): number {
  const [id, ...rest] = tokenizer.encode(String(digit));
  if (id === undefined || rest.length > 0) throw new RangeError(`digit ${digit} is not one token`);
  return id;
}
