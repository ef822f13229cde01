import { InputError } from '../core/index.ts';
import type { ChatMessage, ContentPart } from './chat-template.ts';

/** InputError where pictures are shown to a language model without a vision tower. */
export function requireNoPictures(count: number): void {
  if (count === 0) return;
  throw new InputError(`the model reads text alone, the prompt has ${count} image(s)`, {
    hint: 'leave the images out, or use a model that sees pictures (Qwen2.5-VL, Qwen2-VL)',
  });
}

/**
 * The messages with plain strings as their contents: the templates of language models know no content in parts.
 * InputError for an image among the parts.
 */
export function textMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  requireNoPictures(parts.filter(({ type }) => type === 'image').length);
  return messages.map((message) => ({ ...message, content: joined(message.content) }));
}

const joined = (content: string | ContentPart[]): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
