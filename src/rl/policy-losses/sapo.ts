import { tf } from '../../engine/index.ts';
import { type Surrogate, type SurrogateInputs, tokenRatio } from './surrogate-inputs.ts';

/**
 * (4 / tau) sigmoid(tau (r - 1)) A: a gate that closes smoothly with the distance of the ratio from 1, where its
 * slope is 1; tau by the advantage's sign. SAPO (arXiv 2511.20347).
 */
export function sapoSurrogate(
  inputs: SurrogateInputs,
  { temperaturePositive, temperatureNegative }: { temperaturePositive: number; temperatureNegative: number },
): Surrogate {
  const ratio = tokenRatio(inputs);
  const { advantages } = inputs;
  const positive = tf.cast(tf.greater(advantages, 0), 'float32');
  const temperature = positive.mul(temperaturePositive - temperatureNegative).add(temperatureNegative);
  const gate = tf.sigmoid(ratio.sub(1).mul(temperature)).mul(4).div(temperature);
  return { objective: gate.mul(advantages), ratio, clippedLow: null, clippedHigh: null };
}
