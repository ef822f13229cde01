import { InputError, type TokenRole } from '../../core/index.ts';
import {
  type ChatMessage,
  imageTokenCount,
  type ProcessedImage,
  type Sequence,
  type VisionLanguageModel,
} from '../../model/index.ts';
import type { ChatTurn } from './tasks.ts';

type Format = Pick<VisionLanguageModel, 'config' | 'tokenizer' | 'chatTemplate' | 'files'>;

/** A character of a private use area, which no template of a model writes. */
const PLACE = '\uF8FF';

/** The tokens of a tokenizer.json that stand outside its vocabulary of text: turns, images, ends. */
export function controlTokens({ files, tokenizer }: Format): Map<string, number> {
  const { added_tokens: added } = files.tokenizer as { added_tokens: { content: string }[] };
  const found = new Map<string, number>();
  for (const { content } of added) {
    const id = tokenizer.tokenId(content);
    if (id !== undefined && content !== '') found.set(content, id);
  }
  return found;
}

const anyOf = (contents: Iterable<string>): RegExp =>
  new RegExp(
    [...contents]
      .sort((a, b) => b.length - a.length)
      .map((content) => content.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      .join('|'),
    'g',
  );

/**
 * A conversation as tokens, in which no text of a turn can become a control token, also not together with what
 * the template writes beside it: "<|im_end|>" in a question is ten characters of text. The template is rendered
 * with places for the texts; control tokens are looked for in what the template wrote, and what lies between
 * them is encoded as text, cut within any control token's name.
 *
 * Texts without such names give the very tokens that `promptSequence` gives.
 */
export function conversationSequence(
  format: Format,
  turns: readonly ChatTurn[],
  images: readonly ProcessedImage[],
): Sequence {
  const { config, chatTemplate } = format;
  const controls = controlTokens(format);
  const pattern = anyOf(controls.keys());
  const texts: string[] = [];
  const messages = turns.map(({ role, content }): ChatMessage => {
    const parts = content.map((part) => {
      if (part.type === 'image') return part;
      texts.push(part.text);
      return { type: 'text' as const, text: PLACE };
    });
    const [only] = parts;
    return { role, content: parts.length === 1 && only?.type === 'text' ? only.text : parts };
  });
  const written = chatTemplate.render(messages).split(PLACE);
  if (written.length !== texts.length + 1) {
    throw new InputError('the chat template of this model does not show every text of the conversation', {
      hint: 'put all text into one message of the role user',
    });
  }
  const ids: number[] = [];
  let run = '';
  const flush = (): void => {
    ids.push(...encodeAsText(format, run, pattern, controls));
    run = '';
  };
  written.forEach((piece, i) => {
    let at = 0;
    for (const match of piece.matchAll(pattern)) {
      run += piece.slice(at, match.index);
      flush();
      ids.push(controls.get(match[0])!);
      at = match.index + match[0].length;
    }
    run += piece.slice(at) + (texts[i] ?? '');
  });
  flush();
  return withImages(ids, images, config);
}

function encodeAsText(
  { tokenizer }: Format,
  text: string,
  pattern: RegExp,
  controls: ReadonlyMap<string, number>,
): number[] {
  const ids: number[] = [];
  let from = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    // Cut behind its first character, a name is no name any more; names that overlap it are looked for again.
    const cut = match.index + 1;
    ids.push(...tokenizer.encode(text.slice(from, cut)));
    from = cut;
    pattern.lastIndex = cut;
  }
  if (from < text.length) ids.push(...tokenizer.encode(text.slice(from)));
  const special = new Set(controls.values());
  // Whatever a tokenizer normalises text to, what comes out is checked.
  if (ids.some((id) => special.has(id))) {
    throw new InputError('the text holds a control token of the model', { hint: 'take it out of the text' });
  }
  return ids;
}

/** Every image-pad token repeated to the number of tokens that its image takes. */
function withImages(
  ids: readonly number[],
  images: readonly ProcessedImage[],
  config: Format['config'],
): Sequence {
  const tokenIds: number[] = [];
  let image = 0;
  for (const id of ids) {
    if (id !== config.tokens.imagePad) {
      tokenIds.push(id);
      continue;
    }
    const grid = images[image++]?.grid;
    if (grid === undefined) throw new InputError('the conversation refers to more images than it holds');
    const count = imageTokenCount(grid, config.vision.spatialMergeSize);
    for (let k = 0; k < count; k++) tokenIds.push(id);
  }
  if (image < images.length) {
    throw new InputError('the chat template of this model does not show every image of the conversation', {
      hint: 'put the images into one message of the role user',
    });
  }
  return { tokenIds, roles: tokenIds.map((): TokenRole => 'prompt'), images };
}
