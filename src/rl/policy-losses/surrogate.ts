import type { Rng } from '../../core/index.ts';
import type { PolicyLossConfig } from '../config.ts';
import { findBapoBounds } from './bapo.ts';
import { cispoSurrogate } from './cispo.ts';
import { type ClipBounds, clipSurrogate, movingClipSurrogate } from './clip.ts';
import {
  type BatchTokens,
  clipCovSurrogate,
  klCovSurrogate,
  selectClipCov,
  selectKlCov,
} from './covariance.ts';
import { gmpoSurrogate } from './gmpo.ts';
import { gspoSurrogate, gspoTokenSurrogate } from './gspo.ts';
import { sapoSurrogate } from './sapo.ts';
import type { Surrogate, SurrogateInputs } from './surrogate-inputs.ts';

/** A policy loss whose choices over the whole optimizer batch are made: BAPO's bounds are found. */
export type ResolvedPolicyLoss =
  | Exclude<PolicyLossConfig, { kind: 'bapo' }>
  | ({ kind: 'moving-clip' } & ClipBounds);

export interface PreparedPolicyLoss {
  loss: ResolvedPolicyLoss;
  /** 1 for each token that clip-cov detaches or kl-cov penalises, in the order of the tokens; null for others. */
  selected: Uint8Array | null;
  /** What was decided, for the log. */
  metrics: Record<string, number>;
}

/**
 * Makes the decisions that belong to the optimizer batch as a whole, before it is cut into micro-batches:
 * afterwards the gradient is the same for any split.
 *
 * @param tokens all loss-bearing tokens of the optimizer batch, without padding
 * @param rng for clip-cov's choice
 */
export function preparePolicyLoss(
  config: PolicyLossConfig,
  tokens: BatchTokens,
  rng: Rng,
): PreparedPolicyLoss {
  switch (config.kind) {
    case 'bapo': {
      const { low, high, satisfied, ...found } = findBapoBounds(tokens, config);
      return {
        loss: { kind: 'moving-clip', low, high, dualClip: config.dualClip },
        selected: null,
        metrics: {
          'bapo/low': low,
          'bapo/high': high,
          'bapo/positive': found.positive,
          'bapo/negative': found.negative,
          ...(found.positiveShare === null ? {} : { 'bapo/positiveShare': found.positiveShare }),
          'bapo/satisfied': satisfied ? 1 : 0,
          'bapo/clippedLow': found.clippedLow,
          'bapo/clippedHigh': found.clippedHigh,
        },
      };
    }
    case 'clip-cov':
      return withSelection(config, selectClipCov(tokens, config, rng));
    case 'kl-cov':
      return withSelection(config, selectKlCov(tokens, config));
    case 'clip':
    case 'gspo':
    case 'gspo-token':
    case 'cispo':
    case 'sapo':
    case 'gmpo':
      return { loss: config, selected: null, metrics: {} };
    default:
      return config satisfies never;
  }
}

function withSelection(loss: ResolvedPolicyLoss, selected: Uint8Array): PreparedPolicyLoss {
  const count = selected.reduce((sum, mark) => sum + mark, 0);
  return { loss, selected, metrics: { selectedShare: count / Math.max(1, selected.length) } };
}

/** The per-token objective of the policy loss, to be maximised. */
export function policySurrogate(loss: ResolvedPolicyLoss, inputs: SurrogateInputs): Surrogate {
  switch (loss.kind) {
    case 'clip':
      return clipSurrogate(inputs, boundsOf(loss));
    case 'moving-clip':
      return movingClipSurrogate(inputs, loss);
    case 'gspo':
      return gspoSurrogate(inputs, loss);
    case 'gspo-token':
      return gspoTokenSurrogate(inputs, loss);
    case 'cispo':
      return cispoSurrogate(inputs, loss);
    case 'sapo':
      return sapoSurrogate(inputs, loss);
    case 'gmpo':
      return gmpoSurrogate(inputs, loss);
    case 'clip-cov':
      return clipCovSurrogate(inputs, boundsOf({ ...loss, dualClip: null }));
    case 'kl-cov':
      return klCovSurrogate(inputs, loss);
    default:
      return loss satisfies never;
  }
}

const boundsOf = ({
  epsilonLow,
  epsilonHigh,
  dualClip,
}: {
  epsilonLow: number;
  epsilonHigh: number;
  dualClip: number | null;
}): ClipBounds => ({ low: 1 - epsilonLow, high: 1 + epsilonHigh, dualClip });
