/**
 * Share of a sequence's n-grams that have occurred before in it: 1 - distinct / all, in [0, 1). 0 where all differ,
 * near 1 in a loop; "a a a a a" has 1 - 1/2 for n = 4. Null for fewer than n tokens: there is no n-gram to repeat.
 * (Distinct-n of Li et al., arXiv 1510.03055, within one sequence; the "seq-rep-n" of Welleck et al., arXiv 1908.04319.)
 */
export function repetitionShare(tokenIds: readonly number[], n = 4): number | null {
  const all = tokenIds.length - n + 1;
  if (all < 1) return null;
  const distinct = new Set<string>();
  for (let i = 0; i < all; i++) distinct.add(tokenIds.slice(i, i + n).join(' '));
  return 1 - distinct.size / all;
}

/** Mean share over the completions that have one; null where none has. */
export function meanRepetition(
  completions: readonly { tokenIds: readonly number[] }[],
  n = 4,
): number | null {
  const shares = completions.flatMap(({ tokenIds }) => repetitionShare(tokenIds, n) ?? []);
  return shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
