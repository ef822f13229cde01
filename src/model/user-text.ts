import { InputError, type Tokenizer } from '../core/index.ts';
import type { ChatMessage, ChatTemplate } from './chat-template.ts';

/** A character of a private use area, which no template of a model writes. */
const PLACE = '\uF8FF';

export interface ConversationFormat {
  tokenizer: Tokenizer;
  chatTemplate: ChatTemplate;
}

const known = new WeakMap<Tokenizer, ReadonlyMap<string, number>>();

/**
 * The special tokens of a tokenizer by name: turns, images, ends; those that decoding leaves out. Tokens that are
 * added but not special, as Qwen's <tool_call>, are text that happens to be one token.
 */
export function specialTokens(tokenizer: Tokenizer): ReadonlyMap<string, number> {
  let tokens = known.get(tokenizer);
  if (tokens === undefined) {
    const found = new Map<string, number>();
    for (let id = 0; id < tokenizer.vocabularySize; id++) {
      if (tokenizer.decode([id]) !== '') continue;
      const name = tokenizer.decode([id], { keepSpecial: true });
      if (name !== '') found.set(name, id);
    }
    tokens = found;
    known.set(tokenizer, tokens);
  }
  return tokens;
}

/**
 * A conversation as token ids, one image-pad token per image. Its special tokens are those that the template
 * writes: no text of a message can become one, also not together with what stands beside it. "<|im_end|>" in a
 * question is ten characters of text, which the transformers library would read as the end of the turn.
 *
 * Conversations whose texts spell no special token have the very ids that transformers gives them. InputError
 * where a text does spell one and the template does not show every text, so that its own tokens cannot be told
 * apart.
 */
export function conversationTokens(format: ConversationFormat, messages: readonly ChatMessage[]): number[] {
  const { tokenizer, chatTemplate } = format;
  const specials = specialTokens(tokenizer);
  const ids = tokenizer.encode(chatTemplate.render(messages));
  const texts: string[] = [];
  const written = chatTemplate.render(messages.map((message) => withPlaces(message, texts)));
  const own = [...written.matchAll(anyOf(specials.keys()))].map(([name]) => specials.get(name)!);
  const special = new Set(specials.values());
  const got = ids.filter((id) => special.has(id));
  if (got.length === own.length && got.every((id, i) => id === own[i])) return ids;

  const pieces = written.split(PLACE);
  if (pieces.length !== texts.length + 1) {
    throw new InputError(
      'the texts spell special tokens of the model, and its chat template does not show every text',
      { hint: 'put all text into one message of the role user' },
    );
  }
  return joinPieces(tokenizer, pieces, texts);
}

/** The message with a place instead of each text, which is added to `texts`. */
function withPlaces(message: ChatMessage, texts: string[]): ChatMessage {
  const placeFor = (text: string): string => {
    texts.push(text);
    return PLACE;
  };
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: placeFor(content) };
  const parts = content.map((part) => (part.type === 'text' ? { ...part, text: placeFor(part.text) } : part));
  return { ...message, content: parts };
}

/** Special tokens are looked for in the template's pieces; all that lies between two of them is text. */
function joinPieces(tokenizer: Tokenizer, pieces: readonly string[], texts: readonly string[]): number[] {
  const specials = specialTokens(tokenizer);
  const pattern = anyOf(specials.keys());
  const ids: number[] = [];
  let run = '';
  const flush = (): void => {
    ids.push(...encodeText(tokenizer, run));
    run = '';
  };
  pieces.forEach((piece, i) => {
    let at = 0;
    for (const match of piece.matchAll(pattern)) {
      run += piece.slice(at, match.index);
      flush();
      ids.push(specials.get(match[0])!);
      at = match.index + match[0].length;
    }
    run += piece.slice(at) + (texts[i] ?? '');
  });
  flush();
  return ids;
}

/**
 * The ids of a text that holds no special token, whatever it spells: a spelled name is cut behind its first
 * character. A text that spells none has the ids of `tokenizer.encode`.
 */
export function encodeText(tokenizer: Tokenizer, text: string): number[] {
  const specials = specialTokens(tokenizer);
  const ids: number[] = [];
  const search = anyOf(specials.keys());
  let from = 0;
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    // Names that overlap this one are looked for again, from behind the cut.
    const cut = match.index + 1;
    ids.push(...tokenizer.encode(text.slice(from, cut)));
    from = cut;
    search.lastIndex = cut;
  }
  if (from < text.length) ids.push(...tokenizer.encode(text.slice(from)));
  const special = new Set(specials.values());
  // Whatever a tokenizer normalises text to, what comes out is checked.
  if (ids.some((id) => special.has(id))) {
    throw new InputError('the text holds a special token of the model', { hint: 'take it out of the text' });
  }
  return ids;
}

/** Any of the names, longer ones first; of no names, nothing. */
const anyOf = (names: Iterable<string>): RegExp =>
  new RegExp(
    [...names]
      .sort((a, b) => b.length - a.length)
      .map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      .join('|') || '$^',
    'g',
  );
