import { InputError, parseAnswer, type Tokenizer } from '../core/index.ts';
import { appendTokens, encodeText, type Sequence } from '../model/index.ts';

/** A teacher's response as R3 cuts it (arXiv 2402.05808, section 3): its `steps` go to `r3StartAt`. */
export interface ResponseDemonstration {
  /** Of the whole response, as the cold start trains on them. */
  tokenIds: readonly number[];
  /**
   * First token of each step: the sentences of the reasoning, or its tokens, and last the token in which `</think>`
   * begins. No start lies beyond, so that the answer is always the policy's own.
   */
  steps: readonly number[];
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Reads a response by the contract as a demonstration. Cuts lie between tokens of the response encoded as a whole,
 * since those are the tokens that the policy knows: a place inside a token (the last full stop and the tag behind it
 * are one, ".</") is cut before that token.
 *
 * InputError for a response that breaks the contract: demonstrations must be right, so take accepted rows alone.
 */
export function responseDemonstration(
  response: string,
  { tokenizer, by }: { tokenizer: Tokenizer; by: 'sentence' | 'token' },
): ResponseDemonstration {
  const tokenIds = encodeText(tokenizer, response);
  const { text, starts } = textPositions(tokenIds, tokenizer);
  const answer = parseAnswer(text);
  if (!answer.wellFormed) {
    throw new InputError(`a demonstration for R3 must keep the output contract: ${answer.problem}`, {
      hint: 'take the accepted teacher rows alone',
    });
  }
  const end = text.indexOf('</think>');
  if (by === 'token') {
    return { tokenIds, steps: starts.filter(({ at }) => at <= end).map(({ token }) => token) };
  }
  // White space belongs to what follows it, as in the tokens of words.
  const begins = [...sentences.segment(text.slice(0, end))].map(({ index }) =>
    text.slice(0, index).trimEnd(),
  );
  const steps = [...begins.map(({ length }) => length), end].map(
    (begin) => starts.findLast(({ at }) => at <= begin)?.token ?? 0,
  );
  return { tokenIds, steps: [...new Set(steps)] };
}

/**
 * The prompt with the first tokens of the demonstration given. They are observations: the policy sees them, and
 * neither loss nor advantage touches them.
 */
export const startFrom = (prompt: Sequence, { tokenIds }: ResponseDemonstration, start: number): Sequence =>
  appendTokens(prompt, tokenIds.slice(0, requireStart(start, tokenIds)), 'observation');

/**
 * The whole response for the reward to read: what was given and what the policy added, decoded together, since a
 * character may lie across the cut. For reading alone; training takes the tokens.
 */
export const joinedText = (
  { tokenIds }: ResponseDemonstration,
  start: number,
  completion: { tokenIds: readonly number[] },
  tokenizer: Tokenizer,
): string => tokenizer.decode([...tokenIds.slice(0, requireStart(start, tokenIds)), ...completion.tokenIds]);

function requireStart(start: number, tokenIds: readonly number[]): number {
  if (Number.isInteger(start) && start >= 0 && start < tokenIds.length) return start;
  throw new RangeError(
    `R3: ${start} tokens of a demonstration of ${tokenIds.length} are given, allowed are 0 to ${tokenIds.length - 1}`,
  );
}

/** The decoded text, and where in it each token begins that begins with a whole character. */
function textPositions(
  tokenIds: readonly number[],
  tokenizer: Tokenizer,
): { text: string; starts: { token: number; at: number }[] } {
  const text = tokenizer.decode(tokenIds);
  const starts: { token: number; at: number }[] = [];
  let [token, at] = [0, 0];
  for (let next = 1; next <= tokenIds.length; next++) {
    const piece = tokenizer.decode(tokenIds.slice(token, next));
    // The bytes of a cut character decode to a replacement character, which the text does not have there.
    if (!text.startsWith(piece, at)) continue;
    starts.push({ token, at });
    [token, at] = [next, at + piece.length];
  }
  return { text, starts };
}
