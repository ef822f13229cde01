import type { Tokenizer } from '../../core/index.ts';
import type { EngineCompletion, RolloutFailure, RolloutFailureReason } from './rollout-engine.ts';
import type { ServerChoice } from './server-protocol.ts';

export interface ChoiceRules {
  tokenizer: Tokenizer;
  maxNewTokens: number;
  endIds: ReadonlySet<number>;
  /** Have probability 0 where the trainer scores them. */
  bannedIds: ReadonlySet<number>;
  version: number;
}

/** What vLLM writes for a log-probability of minus infinity, which JSON has not. */
const NO_LOG_PROBABILITY = -9999;
/** Rounding of a log-softmax in half precision can lift a certain token above 0. */
const ROUNDING = 1e-2;

/** One choice as a completion that the trainer can learn from, or why it is none. Ids and numbers go in as they came. */
export function readChoice(
  { tokenIds, logProbabilities, finishReason }: ServerChoice,
  { tokenizer, maxNewTokens, endIds, bannedIds, version }: ChoiceRules,
): EngineCompletion | RolloutFailure {
  const failed = (reason: RolloutFailureReason, message: string): RolloutFailure => ({ reason, message });
  if (finishReason !== 'stop' && finishReason !== 'length')
    return failed('server', `the server ended an answer with "${finishReason}", allowed are stop and length`);
  if (tokenIds === null) return failed('missing-token-ids', 'an answer has no token ids');
  if (tokenIds.length === 0 || tokenIds.length > maxNewTokens)
    return failed('wrong-end', `an answer has ${tokenIds.length} tokens, allowed are 1 to ${maxNewTokens}`);
  const values = logProbabilities ?? [];
  const isKnown = (value: number | null | undefined): value is number =>
    typeof value === 'number' && value > NO_LOG_PROBABILITY && value <= ROUNDING;
  const unknown = tokenIds.findIndex((_, i) => !isKnown(values[i]));
  if (unknown >= 0 || values.length !== tokenIds.length) {
    const got =
      unknown >= 0 && unknown < values.length
        ? `${values[unknown]} for token ${unknown}`
        : `${values.length}`;
    return failed(
      'missing-log-probabilities',
      `${tokenIds.length} tokens have the log-probabilities: ${got}`,
    );
  }
  const banned = tokenIds.find((id) => bannedIds.has(id) || id < 0 || id >= tokenizer.vocabularySize);
  if (banned !== undefined)
    return failed('banned-token', `an answer holds token ${banned}, which is never sampled`);
  const end = tokenIds.findIndex((id) => endIds.has(id));
  if (end >= 0 && end < tokenIds.length - 1)
    return failed('wrong-end', `an answer goes on after its end, token ${end} of ${tokenIds.length}`);
  if (end < 0 && finishReason === 'stop')
    return failed('wrong-end', 'an answer has stopped without an end-of-sequence token');
  return {
    tokenIds: [...tokenIds],
    logProbabilities: values.map((value) => Math.min(0, value!)),
    text: tokenizer.decode(tokenIds),
    finishReason: end >= 0 ? 'stop' : 'length',
    version,
  };
}
