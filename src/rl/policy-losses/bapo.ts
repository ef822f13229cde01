import { ConfigError } from '../../core/index.ts';
import type { BapoConfig } from '../config.ts';
import type { BatchTokens } from './covariance.ts';
import { LOG_RATIO_LIMIT } from './surrogate-inputs.ts';

export interface BapoBounds {
  /** Bounds of the ratio for this optimizer batch. */
  low: number;
  high: number;
  /** Contributions under these bounds, both >= 0. */
  positive: number;
  negative: number;
  /** positive / (positive + negative); null if both are 0. */
  positiveShare: number | null;
  /** Whether the target is reached. If not, both bounds rest at their limits. */
  satisfied: boolean;
  /** Shares of all tokens whose gain is cut by these bounds. */
  clippedLow: number;
  clippedHigh: number;
  /** How often a bound was moved. */
  moves: number;
}

/** The ratio of positive to negative contributions that a share rho0 of the positive asks for: rho0 / (1 - rho0). */
export function ratioOfShare(share: number): number {
  if (!(share > 0 && share < 1)) throw new ConfigError(`BAPO: share is ${share}, allowed is (0, 1)`);
  return share / (1 - share);
}

/**
 * Adaptive clip bounds, BAPO (arXiv 2510.18927), algorithm 1. Beginning with the tightest range, one bound after
 * the other is moved by a step until the positive tokens contribute the wanted share
 * sum_{A > 0} A min(r, high) / (sum_{A > 0} A min(r, high) + sum_{A < 0} |A| max(r, low)) >= rho0,
 * or both bounds are at their limits. `order`: the algorithm as printed widens above first, its published code
 * raises the floor first. Call it once per optimizer batch, with all its tokens.
 *
 * With `contribution: 'value'`, as published, a token below the floor still counts, as if its ratio were the
 * floor: raising the floor never raises the share, it only takes those tokens' gradient. With 'gradient' a token
 * whose gain is cut counts nothing, and both moves raise the share.
 *
 * Where nothing is negative, or there is no advantage at all, the target counts as reached.
 */
export function findBapoBounds(tokens: BatchTokens, config: BapoConfig): BapoBounds {
  const wanted = config.target.kind === 'share' ? ratioOfShare(config.target.value) : config.target.value;
  const { lowStart, lowLimit, lowStep, highStart, highLimit, highStep } = config;
  const signed = readTokens(tokens);
  const lowMoves = movesTo(lowStart, lowLimit, lowStep);
  const highMoves = movesTo(highStart, highLimit, highStep);
  const [first, second] = config.order === 'high-first' ? [highMoves, lowMoves] : [lowMoves, highMoves];
  for (let moves = 0; ; moves++) {
    const [ofFirst, ofSecond] = [Math.min(moves, first), Math.max(0, moves - first)];
    const [ofHigh, ofLow] = config.order === 'high-first' ? [ofFirst, ofSecond] : [ofSecond, ofFirst];
    // Multiplied, not added up, and the limit itself at the end: rounded steps would not meet it.
    const low = ofLow === lowMoves ? lowLimit : lowStart + ofLow * lowStep;
    const high = ofHigh === highMoves ? highLimit : highStart + ofHigh * highStep;
    const measured = contributions(signed, low, high, config.contribution);
    const satisfied = measured.negative === 0 || measured.positive >= wanted * measured.negative;
    if (!satisfied && moves < first + second) continue;
    const sum = measured.positive + measured.negative;
    return {
      low,
      high,
      ...measured,
      positiveShare: sum === 0 ? null : measured.positive / sum,
      satisfied,
      moves,
    };
  }
}

interface SignedToken {
  ratio: number;
  advantage: number;
}

function readTokens({ logProbabilities, oldLogProbabilities, advantages }: BatchTokens): SignedToken[] {
  return Array.from({ length: advantages.length }, (_, t) => {
    const advantage = advantages[t] as number;
    const logRatio = (logProbabilities[t] as number) - (oldLogProbabilities[t] as number);
    if (!Number.isFinite(advantage) || !Number.isFinite(logRatio)) {
      throw new RangeError(`BAPO: token ${t} has advantage ${advantage} and log-ratio ${logRatio}`);
    }
    return { advantage, ratio: Math.exp(Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logRatio))) };
  });
}

function contributions(
  tokens: readonly SignedToken[],
  low: number,
  high: number,
  contribution: BapoConfig['contribution'],
): Pick<BapoBounds, 'positive' | 'negative' | 'clippedLow' | 'clippedHigh'> {
  let [positive, negative, below, above] = [0, 0, 0, 0];
  for (const { ratio, advantage } of tokens) {
    if (advantage > 0) {
      const clipped = ratio > high;
      if (clipped) above++;
      if (!clipped) positive += ratio * advantage;
      else if (contribution === 'value') positive += high * advantage;
    } else if (advantage < 0) {
      const clipped = ratio < low;
      if (clipped) below++;
      if (!clipped) negative -= ratio * advantage;
      else if (contribution === 'value') negative -= low * advantage;
    }
  }
  const count = Math.max(1, tokens.length);
  return { positive, negative, clippedLow: below / count, clippedHigh: above / count };
}

/** Steps from the start that reach the limit; the small slack keeps a rounded quotient from adding one. */
function movesTo(start: number, limit: number, step: number): number {
  return Math.max(0, Math.ceil((limit - start) / step - 1e-9));
}
