import type { RewardValue } from '../../core/index.ts';
import { normalCdf } from './normal-cdf.ts';

/** One image of a batch with the scores of its group of completions; null where no score could be read. */
export interface RankedImage {
  /** Images are compared only within one data set: MOS of different ones do not share a scale. */
  dataset: string;
  mos: number;
  scores: readonly (number | null)[];
}

const STABILISER = 1e-6;

function momentsOf(scores: readonly number[]): { mean: number; variance: number } {
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const variance = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (scores.length - 1);
  return { mean, variance };
}

/** sqrt(p p* + 1e-6) + sqrt((1-p)(1-p*) + 1e-6): about 1 where the two probabilities agree. */
const fidelity = (p: number, truth: number): number =>
  Math.sqrt(p * truth + STABILISER) + Math.sqrt((1 - p) * (1 - truth) + STABILISER);

/**
 * Thurstone rank reward (VisualQuality-R1, the fidelity of its pairwise probabilities; here a reconstruction of
 * what Q-Ponder may use). For completion k of image i with score q, over the other images j of its data set:
 *   p = Phi((q - mean_j) / sqrt(var_i + var_j + 1e-6)),   p* = 1, 1/2 or 0 for MOS_i >, =, < MOS_j,
 *   r = mean over j of sqrt(p p* + 1e-6) + sqrt((1 - p)(1 - p*) + 1e-6).
 * Means and unbiased variances are over the scores that could be read; nothing is substituted for the others.
 * An image with fewer than two scores has no variance: it is compared with nobody, and its own scores are
 * missing. A null score earns 0, since the rule is: no score, no credit. Result: one list per image, as `scores`.
 */
export function thurstoneRewards(images: readonly RankedImage[]): RewardValue[][] {
  const moments = images.map(({ scores }) => {
    const read = scores.filter((score) => score !== null);
    return read.length >= 2 ? momentsOf(read) : undefined;
  });
  return images.map((image, i) => {
    const own = moments[i];
    const rivals = images.flatMap((other, j) => {
      const theirs = moments[j];
      if (j === i || other.dataset !== image.dataset || theirs === undefined) return [];
      return [{ ...theirs, truth: image.mos > other.mos ? 1 : image.mos < other.mos ? 0 : 0.5 }];
    });
    return image.scores.map((score): RewardValue => {
      if (score === null) return { status: 'ok', value: 0 };
      if (own === undefined)
        return { status: 'missing', reason: 'rank: the image has fewer than two scores' };
      if (rivals.length === 0) {
        return {
          status: 'missing',
          reason: 'rank: the batch has no other image of this data set with scores',
        };
      }
      const total = rivals.reduce((sum, { mean, variance, truth }) => {
        const p = normalCdf((score - mean) / Math.sqrt(own.variance + variance + STABILISER));
        return sum + fidelity(p, truth);
      }, 0);
      return { status: 'ok', value: total / rivals.length };
    });
  });
}
