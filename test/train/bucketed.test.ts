import { expect, it } from 'vitest';
import type { Sequence } from '../../src/model/index.ts';
import { bucketed } from '../../src/train/bucketed.ts';

const ofLength = (length: number): Sequence =>
  ({ tokenIds: Array.from({ length }, () => 1), roles: [], images: [] }) as unknown as Sequence;
const lengths = (batches: Sequence[][]): number[][] =>
  batches.map((batch) => batch.map(({ tokenIds }) => tokenIds.length));

it('sequences of like length share a micro-batch', () => {
  const batches = bucketed([9, 2, 8, 1, 3].map(ofLength), 2);
  expect(lengths(batches)).toEqual([[1, 2], [3, 8], [9]]);
});

it('equal lengths keep their order', () => {
  const sequences = [5, 5, 5].map(ofLength);
  expect(bucketed(sequences, 2).flat()).toEqual(sequences);
  bucketed(sequences, 2)
    .flat()
    .forEach((sequence, i) => {
      expect(sequence).toBe(sequences[i]);
    });
});

it('a batch that fits into one micro-batch stays as it is', () => {
  expect(lengths(bucketed([3, 1, 2].map(ofLength), 3))).toEqual([[3, 1, 2]]);
});
