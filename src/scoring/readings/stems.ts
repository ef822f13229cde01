import { type Completion, QUALITY_LEVELS, type Tokenizer } from '../../core/index.ts';
import { appendTokens, type Sequence } from '../../model/index.ts';
import type { ScoreResult } from '../result.ts';

/** The words after which a level stands, one of those in which the teachers state it. */
export const LEVEL_WORDING = 'the overall quality is';
const ANSWER_TAG = '<answer>';

const LEVEL_AFTER_SPACE = new RegExp(` (?:${QUALITY_LEVELS.join('|')})\\b`, 'g');

/** What the model wrote up to and with its last answer tag. */
export const textUpToAnswer = (text: string): string =>
  text.slice(0, text.lastIndexOf(ANSWER_TAG) + ANSWER_TAG.length);

/**
 * What the model wrote up to the level that it states last, the space before the word left out. Where its
 * reasoning states none, its reasoning with the shipped wording behind it.
 */
export function textUpToLevel({ text, reasoning }: Pick<ScoreResult, 'text' | 'reasoning'>): string {
  const thought = reasoning ?? '';
  const start = text.indexOf(thought);
  const stated = [...thought.matchAll(LEVEL_AFTER_SPACE)].at(-1);
  if (stated !== undefined) return text.slice(0, start + stated.index);
  return `${text.slice(0, start + thought.length)} ${LEVEL_WORDING}`;
}

/**
 * The tokens of a beginning of what the model wrote, as they were sampled: other tokens of the same text would be
 * another state of the model. Only where a token reaches beyond it, or it goes on with other words, is the text
 * encoded anew.
 */
export function tokensUpTo({ tokenIds }: Completion, beginning: string, tokenizer: Tokenizer): number[] {
  let ids: number[] | null = null;
  for (let end = tokenIds.length; end > 0; end--) {
    const shorter = tokenIds.slice(0, end);
    const written = tokenizer.decode(shorter);
    if (written === beginning) ids = shorter;
    if (written.length < beginning.length) break;
  }
  return ids ?? tokenizer.encode(beginning);
}

/** The prompt with a beginning of an answer that the model did not write. */
export const forced = (prompt: Sequence, beginning: string, tokenizer: Tokenizer): Sequence =>
  appendTokens(prompt, tokenizer.encode(beginning), 'action');

/** Beginnings of an answer for readings without reasoning. */
export const DIRECT_STEMS = { digits: ANSWER_TAG, levels: `<think>${LEVEL_WORDING}` } as const;
