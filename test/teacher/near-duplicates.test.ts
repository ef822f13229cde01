import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { NearDuplicates } from '../../src/teacher/index.ts';

const words = (rng: Rng, count: number): string[] =>
  Array.from(
    { length: count },
    () => `w${String.fromCharCode(97 + rng.integer(26))}${String.fromCharCode(97 + rng.integer(26))}`,
  );

describe('near-duplicates', () => {
  it('measures shared runs of four words', () => {
    const kept = new NearDuplicates(0.3);
    expect(kept.add('a', 'one two three four five six')).toBeUndefined();
    // Runs: 3 and 3, common 2, all 4.
    expect(kept.add('b', 'one two three four five seven')).toEqual({ name: 'a', similarity: 0.5 });
  });

  it('keeps no text that was refused', () => {
    const kept = new NearDuplicates(0.5);
    kept.add('a', 'one two three four five six');
    kept.add('b', 'one two three four five seven');
    expect(kept.add('c', 'nothing of it three four five seven')).toBeUndefined();
  });

  it('takes texts without runs for different ones', () => {
    const kept = new NearDuplicates(0.5);
    expect([kept.add('a', ''), kept.add('b', 'one two')]).toEqual([undefined, undefined]);
  });

  it('finds among many texts what comparing all of them finds', () => {
    const rng = new Rng(3);
    const texts: string[] = [];
    for (let i = 0; i < 150; i++) {
      const base = words(rng, 60);
      texts.push(base.join(' '));
      // One word exchanged near the end, or many.
      const changed = base.map((word, at) => ((i % 2 === 0 ? at === 57 : at % 6 === 0) ? 'changed' : word));
      texts.push(changed.join(' '));
    }
    const runs = (text: string) => {
      const all = text.split(' ');
      return new Set(all.slice(3).map((_, i) => all.slice(i, i + 4).join(' ')));
    };
    const slow: string[] = [];
    const kept: string[] = [];
    for (const text of texts) {
      const own = runs(text);
      const hit = kept.find((other) => {
        const theirs = runs(other);
        const common = [...own].filter((run) => theirs.has(run)).length;
        return common / (own.size + theirs.size - common) >= 0.8;
      });
      if (hit === undefined) kept.push(text);
      else slow.push(text);
    }
    const index = new NearDuplicates(0.8);
    const fast = texts.filter((text, i) => index.add(String(i), text) !== undefined);
    expect(slow).toHaveLength(75);
    expect(fast).toEqual(slow);
  });
});
