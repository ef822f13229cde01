import { describe, expect, it } from 'vitest';
import { silentProgress } from '../../src/core/index.ts';
import { noteFewImages, selectionValue } from '../../src/train/validation.ts';

const values = (scored: number, srcc = 0.8, plcc = 0.6) => ({
  'validation/srcc': srcc,
  'validation/plcc': plcc,
  'validation/scored': scored,
});

describe('selectionValue', () => {
  it('is the mean of SRCC and PLCC', () => {
    expect(selectionValue(values(1), 100)).toBeCloseTo(0.7, 12);
  });

  it.each([
    [90 / 100, 100, true],
    [89 / 100, 100, false],
    [10 / 10, 10, true],
    [10 / 11, 11, true],
    [9 / 9, 9, false],
    [9 / 10, 10, false],
    [0, 100, false],
  ])('a share of %d of %i images scored: a candidate or not', (scored, images, candidate) => {
    expect(selectionValue(values(scored), images) !== null).toBe(candidate);
  });

  it('counts images without a score as most wrong, where there are any', () => {
    const harsh = { ...values(0.95), 'validation/srccAll': 0.5, 'validation/plccAll': 0.3 };
    expect(selectionValue(harsh, 100)).toBeCloseTo(0.4, 12);
  });

  it('does not exist without a correlation', () => {
    expect(selectionValue({ 'validation/scored': 1, 'validation/srcc': 0.5 }, 100)).toBeNull();
    expect(selectionValue({ 'validation/scored': 1 }, 100)).toBeNull();
  });
});

it('a validation split below 10 images is said to be too small', () => {
  const notes: string[] = [];
  const progress = { ...silentProgress, note: (line: string) => void notes.push(line) };
  const split = (count: number) => ({ records: new Array(count) });
  noteFewImages(split(10), progress);
  expect(notes).toEqual([]);
  noteFewImages(split(9), progress);
  expect(notes).toEqual([expect.stringContaining('9 validation images are too few')]);
});
