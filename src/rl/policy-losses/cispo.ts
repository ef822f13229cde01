import { tf } from '../../engine/index.ts';
import { detach, type Surrogate, type SurrogateInputs, tokenRatio } from './surrogate-inputs.ts';

/**
 * sg[clip(r, ratioLow, ratioHigh)] A log p: the importance weight is bounded, but no token loses its gradient.
 * CISPO, MiniMax-M1 (arXiv 2506.13585), equations 4 and 5.
 */
export function cispoSurrogate(
  inputs: SurrogateInputs,
  { ratioLow, ratioHigh }: { ratioLow: number; ratioHigh: number },
): Surrogate {
  const ratio = tokenRatio(inputs);
  const weight = detach(tf.clipByValue(ratio, ratioLow, ratioHigh));
  return {
    objective: weight.mul(inputs.advantages).mul(inputs.current),
    ratio,
    clippedLow: tf.less(ratio, ratioLow),
    clippedHigh: tf.greater(ratio, ratioHigh),
  };
}
