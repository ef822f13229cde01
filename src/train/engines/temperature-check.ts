import { ConfigError } from '../../core/index.ts';
import type { ServerReply } from './server-protocol.ts';

/** At this temperature every token is about equally probable, whatever the model. */
export const CHECK_TEMPERATURE = 1000;
export const CHECK_TOKENS = 16;

/**
 * Logits of 50 between the most and the least probable token move a log-probability at temperature 1000 by 0.05. At
 * temperature 1, tokens drawn evenly have a mean of -ln(vocabulary) minus the divergence of the model from even, which
 * is several nats for a model that has learnt anything.
 */
const TOLERANCE = 0.25;

/**
 * ConfigError where the log-probabilities of tokens drawn at temperature 1000 are not about -ln(vocabulary): then
 * they are the model's at temperature 1, and the trainer would measure every sample against the wrong policy.
 */
export function requireSamplingTemperature(reply: ServerReply, vocabulary: number, hint: string): void {
  const values = (reply.choices[0]?.logProbabilities ?? []).filter((value) => value !== null);
  if (values.length === 0)
    throw new ConfigError('the rollout server gives no log-probabilities', {
      hint: 'take a version that does: vLLM from 0.10.2 on, SGLang from 0.5 on',
    });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const even = -Math.log(vocabulary);
  if (Math.abs(mean - even) <= TOLERANCE) return;
  throw new ConfigError(
    `the rollout server gives log-probabilities that are not those it samples with: ${mean.toFixed(2)} on average at temperature ${CHECK_TEMPERATURE}, where ${even.toFixed(2)} is expected`,
    { hint },
  );
}
