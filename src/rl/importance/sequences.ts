/** Calls back with the token range [start, end) of each sequence of a flat vector. */
export function visitSequences(
  lengths: readonly number[],
  visit: (start: number, end: number, sequence: number) => void,
): void {
  let start = 0;
  lengths.forEach((length, sequence) => {
    visit(start, start + length, sequence);
    start += length;
  });
}

/** Every flat vector holds exactly the tokens of the sequences. */
export function requireLengths(
  caller: string,
  lengths: readonly number[],
  vectors: Record<string, ArrayLike<number>>,
): void {
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  for (const [name, vector] of Object.entries(vectors)) {
    if (vector.length !== tokens) {
      throw new RangeError(`${caller}: ${name} has ${vector.length} tokens, the sequences have ${tokens}`);
    }
  }
}
