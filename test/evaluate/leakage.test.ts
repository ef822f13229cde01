import { describe, expect, it } from 'vitest';
import { describeLeakage, findLeaks, requireNoLeak } from '../../src/evaluate/index.ts';
import type { TrainingImages } from '../../src/formats/index.ts';

const hash = (digit: string): string => digit.repeat(64);
const key = (digit: string): string => digit.repeat(16);

const training: TrainingImages = {
  format: 1,
  complete: true,
  stages: [
    { stage: 'base', dataset: 'a', use: 'train', recordsSha256: hash('f'), images: [key('1'), key('2')] },
    { stage: 'grpo', dataset: 'b', use: 'validation', recordsSha256: hash('e'), images: [key('3')] },
  ],
};
const test = (...digits: string[]) => digits.map((digit) => ({ id: `image-${digit}`, sha256: hash(digit) }));

describe('comparing contents', () => {
  it('finds images that any stage has learnt from or chosen by', () => {
    expect(findLeaks(training, test('2', '3', '4'))).toEqual({
      status: 'leak',
      checked: 3,
      leaks: [
        { stage: 'base', dataset: 'a', use: 'train', ids: ['image-2'] },
        { stage: 'grpo', dataset: 'b', use: 'validation', ids: ['image-3'] },
      ],
    });
  });

  it.each<[string, TrainingImages | null, string]>([
    ['a whole list without them', training, 'clean'],
    ['a list that begins in the middle', { ...training, complete: false }, 'unknown'],
    ['no list', null, 'unknown'],
  ])('%s', (_what, list, status) => {
    expect(findLeaks(list, test('7')).status).toBe(status);
  });

  it('an unfinished list that holds a test image is a leak all the same', () => {
    expect(findLeaks({ ...training, complete: false }, test('1')).status).toBe('leak');
  });
});

describe('what is said', () => {
  it('a leak names stage, data set and some images, and is refused', () => {
    const report = findLeaks(training, test('2', '3', '4'));
    const sentence =
      'leakage: q has seen 2 of the 3 images of koniq: 1 in the training images of base (a), 1 in the validation images of grpo (b); for example image-2, image-3';
    expect(describeLeakage(report, 'q', 'koniq')).toBe(sentence);
    expect(() => requireNoLeak(report, 'q', 'koniq', false)).toThrow(
      expect.objectContaining({ code: 'GATE', message: sentence }),
    );
    expect(() => requireNoLeak(report, 'q', 'koniq', true)).not.toThrow();
  });

  it('what cannot be checked says why, and is not refused', () => {
    const none = findLeaks(null, test('1'));
    expect(describeLeakage(none, 'q', 'koniq')).toBe(
      'leakage: q against koniq cannot be checked, as it has no training-images.json',
    );
    const middle = findLeaks({ ...training, complete: false }, test('7'));
    expect(describeLeakage(middle, 'q', 'koniq')).toContain('does not reach back to its first stage');
    expect(() => requireNoLeak(none, 'q', 'koniq', false)).not.toThrow();
  });
});
