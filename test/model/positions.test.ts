import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/core/index.ts';
import { multimodalPositions, rotaryTables } from '../../src/model/index.ts';
import { END, IMAGE, START, tinyConfig } from './tiny.ts';

const config = tinyConfig();

describe('multimodalPositions', () => {
  test('text, a 2x3 image, text', () => {
    const ids = [1, START, IMAGE, IMAGE, IMAGE, IMAGE, IMAGE, IMAGE, END, 2];
    const { positions, ropeDelta } = multimodalPositions(ids, [{ h: 4, w: 6 }], config);
    expect([...positions]).toEqual(
      [
        [0, 1, 2, 2, 2, 2, 2, 2, 5, 6], // time: the image counts as max(2, 3) = 3 steps
        [0, 1, 2, 2, 2, 3, 3, 3, 5, 6],
        [0, 1, 2, 3, 4, 2, 3, 4, 5, 6],
      ].flat(),
    );
    expect(ropeDelta).toBe(7 - 10);
  });

  test('two images of different shape', () => {
    const ids = [START, IMAGE, IMAGE, END, START, IMAGE, END];
    const grids = [
      { h: 4, w: 2 },
      { h: 2, w: 2 },
    ];
    const { positions, ropeDelta } = multimodalPositions(ids, grids, config);
    expect([...positions]).toEqual(
      [
        [0, 1, 1, 3, 4, 5, 6],
        [0, 1, 2, 3, 4, 5, 6],
        [0, 1, 1, 3, 4, 5, 6],
      ].flat(),
    );
    expect(ropeDelta).toBe(0);
  });

  test('text alone counts from 0', () => {
    const { positions, ropeDelta } = multimodalPositions([5, 6], [], config);
    expect([[...positions], ropeDelta]).toEqual([[0, 1, 0, 1, 0, 1], 0]);
  });

  test.each([
    ['too few image tokens', [START, IMAGE, END], [{ h: 4, w: 2 }], 'has 1 image tokens'],
    ['too many image tokens', [START, IMAGE, IMAGE, END], [{ h: 2, w: 2 }], 'needs 1'],
    ['image tokens without an image', [IMAGE], [], 'needs 0'],
    ['an image without tokens', [1, 2], [{ h: 2, w: 2 }], '1 were given'],
  ])('%s', (_, ids, grids, message) => {
    expect(() => multimodalPositions(ids, grids, config)).toThrow(InputError);
    expect(() => multimodalPositions(ids, grids, config)).toThrow(message);
  });
});

test('rotaryTables: each frequency turns with the axis of its section', () => {
  // headSize 8, sections [2, 1, 1], theta 10000: frequencies 1, .1, .01, .001.
  const { cos, sin } = rotaryTables(Int32Array.of(3, 5, 7), config.text);
  const angles = [3, 0.3, 0.05, 0.007];
  const close = (actual: Float32Array, expected: number[]) =>
    expected.forEach((value, i) => {
      expect(actual[i]).toBeCloseTo(value, 6);
    });
  close(cos, [...angles, ...angles].map(Math.cos));
  close(sin, [...angles.map((a) => -Math.sin(a)), ...angles.map(Math.sin)]);
});
