import { InputError, type Tokenizer, type TokenRole } from '../core/index.ts';
import type { ChatMessage, ChatTemplate } from './chat-template.ts';
import type { AnyModelConfig } from './config.ts';
import { imageTokenCount, type ProcessedImage } from './image-processor.ts';
import type { Sequence } from './sequence.ts';
import { requireNoPictures, textMessages } from './text-only.ts';
import { conversationTokens } from './user-text.ts';

/** What a prompt needs of a model. */
export interface PromptFormat {
  config: AnyModelConfig;
  tokenizer: Tokenizer;
  chatTemplate: ChatTemplate;
}

/**
 * A conversation as a prompt sequence: rendered, tokenised, every image-pad token repeated to the number of
 * tokens its image takes. Images belong to the image parts of the messages in order; text that spells a special
 * token stays text (`conversationTokens`). InputError for a picture in a prompt of a language model.
 */
export function promptSequence(
  format: PromptFormat,
  messages: readonly ChatMessage[],
  images: readonly ProcessedImage[],
): Sequence {
  const { config } = format;
  if (config.vision === null) {
    requireNoPictures(images.length);
    return prompt(conversationTokens(format, textMessages(messages)), []);
  }
  const ids: number[] = [];
  let image = 0;
  for (const id of conversationTokens(format, messages)) {
    if (id !== config.tokens.imagePad) {
      ids.push(id);
      continue;
    }
    const grid = images[image++]?.grid;
    if (grid === undefined) {
      throw new InputError(`the messages refer to more images than the ${images.length} given`);
    }
    const count = imageTokenCount(grid, config.vision.spatialMergeSize);
    for (let k = 0; k < count; k++) ids.push(id);
  }
  if (image < images.length) {
    throw new InputError(`the messages refer to ${image} image(s), ${images.length} were given`);
  }
  return prompt(ids, images);
}

const prompt = (tokenIds: readonly number[], images: readonly ProcessedImage[]): Sequence => ({
  tokenIds,
  roles: tokenIds.map((): TokenRole => 'prompt'),
  images,
});

/** The sequence with tokens appended: a response ('action') or an environment's words ('observation'). */
export function appendTokens(sequence: Sequence, tokenIds: readonly number[], role: TokenRole): Sequence {
  return {
    tokenIds: [...sequence.tokenIds, ...tokenIds],
    roles: [...sequence.roles, ...tokenIds.map(() => role)],
    images: sequence.images,
  };
}
