import { ConfigError } from '../../core/index.ts';

/**
 * Marks the tokens whose entropy is at least the (1 - share) quantile of all: the forks of a reasoning, where the
 * policy gradient acts. Wang et al., Beyond the 80/20 Rule (arXiv 2506.01939). As many as tie with
 * the quantile are kept.
 *
 * @param entropies of all loss-bearing tokens of the optimizer batch @param share in (0, 1]
 * @returns 1 for each kept token
 */
export function topEntropyMask(entropies: ArrayLike<number>, share: number): Uint8Array {
  if (!(share > 0 && share <= 1)) {
    throw new ConfigError(`share of high-entropy tokens is ${share}, allowed is (0, 1]`);
  }
  if (share === 1 || entropies.length === 0) return new Uint8Array(entropies.length).fill(1);
  const threshold = quantile(Float64Array.from(entropies).sort(), 1 - share);
  return Uint8Array.from(entropies, (entropy) => (entropy >= threshold ? 1 : 0));
}

/** With linear interpolation between order statistics. */
function quantile(sorted: Float64Array, q: number): number {
  const at = q * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (at - below);
}
