import type { Tokenizer } from '../../core/index.ts';
import {
  appendTokens,
  lastTokenLogProbabilities,
  type Sequence,
  type VisionLanguageModel,
} from '../../model/index.ts';

/** The sequence of the tokens before the last one, as a key. */
const keyOf = (tokenIds: readonly number[]): string => tokenIds.join(' ');

/** What must be appended to a stem before each token of the continuations can be looked up, each once. */
export function prefixesOf(continuations: readonly (readonly number[])[]): number[][] {
  const found = new Map<string, number[]>();
  for (const ids of continuations) {
    ids.forEach((_, length) => {
      found.set(keyOf(ids.slice(0, length)), ids.slice(0, length));
    });
  }
  return [...found.values()];
}

/**
 * Log-probability of each continuation: the sum of its tokens' (the product of their probabilities), each given
 * the tokens before it.
 *
 * @param next for each of `prefixesOf(continuations)`, the log-probabilities of every token after it
 */
export function sumsAlong(
  continuations: readonly (readonly number[])[],
  next: readonly ArrayLike<number>[],
): number[] {
  const rows = new Map(prefixesOf(continuations).map((prefix, i) => [keyOf(prefix), next[i]!]));
  return continuations.map((ids) =>
    ids.reduce((sum, id, at) => sum + rows.get(keyOf(ids.slice(0, at)))![id]!, 0),
  );
}

/** Log-probabilities in nats of token sequences as continuations of each stem, [stems][continuations]. */
export async function continuationLogProbabilities(
  model: VisionLanguageModel,
  stems: readonly Sequence[],
  continuations: readonly (readonly number[])[],
): Promise<number[][]> {
  const prefixes = prefixesOf(continuations);
  const next = await lastTokenLogProbabilities(
    model,
    stems.flatMap((stem) => prefixes.map((prefix) => appendTokens(stem, prefix, 'action'))),
  );
  return stems.map((_, i) =>
    sumsAlong(continuations, next.slice(i * prefixes.length, (i + 1) * prefixes.length)),
  );
}

/**
 * The tokens that `word` adds behind `before`, as the tokenizer writes both together. Where it joins them into one
 * token across the border, those of the word alone.
 */
export function tokensBehind(tokenizer: Tokenizer, before: string, word: string): number[] {
  const stem = tokenizer.encode(before);
  const whole = tokenizer.encode(before + word);
  const kept = stem.every((id, i) => whole[i] === id);
  return kept && whole.length > stem.length ? whole.slice(stem.length) : tokenizer.encode(word);
}
