import { ConfigError, type Tokenizer } from '../../core/index.ts';
import type { ServerReply } from './server-protocol.ts';

const TEMPLATE_HINT =
  'serve the very model folder that the policy starts from: its tokenizer and chat template; text that spells special tokens, and an answer given in part whose tokens its text does not bring back, only the local engine takes';
const PICTURE_HINT =
  'the picture takes another number of tokens there: serve the very model folder that the policy starts from, its preprocessor_config.json included, and override no min_pixels or max_pixels';

/**
 * ConfigError unless the server read the prompt as the tokens that we train on. Where the reply has only their number
 * (older SGLang), that must be right.
 */
export function requireSamePrompt(
  { promptTokenIds, promptLength }: ServerReply,
  tokenIds: readonly number[],
  { tokenizer, imagePad }: { tokenizer: Tokenizer; imagePad: number | null },
): void {
  if (promptTokenIds === null) {
    if (promptLength === tokenIds.length) return;
    throw new ConfigError(
      promptLength === null
        ? 'the rollout server says neither the tokens of the prompt nor their number'
        : `the rollout server read a prompt of ${tokenIds.length} tokens as ${promptLength}`,
      {
        hint:
          promptLength === null
            ? 'take a newer version of the server'
            : `${TEMPLATE_HINT}; or ${PICTURE_HINT}`,
      },
    );
  }
  const differs = tokenIds.findIndex((id, i) => promptTokenIds[i] !== id);
  if (differs < 0 && promptTokenIds.length === tokenIds.length) return;
  const at = differs < 0 ? tokenIds.length : differs;
  const written = (ids: readonly number[]): string =>
    at < ids.length
      ? `${ids[at]} ${JSON.stringify(tokenizer.decode([ids[at]!], { keepSpecial: true }))}`
      : 'no token';
  const ofPicture = imagePad !== null && (tokenIds[at] === imagePad) !== (promptTokenIds[at] === imagePad);
  throw new ConfigError(
    `the rollout server reads the prompt as other tokens: ${promptTokenIds.length} instead of ${tokenIds.length}, the first other one is number ${at}, ${written(promptTokenIds)} instead of ${written(tokenIds)}`,
    { hint: ofPicture && tokenIds[at - 1] === imagePad ? PICTURE_HINT : TEMPLATE_HINT },
  );
}
