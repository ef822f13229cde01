import { describe, expect, it } from 'vitest';
import type { NamedDistortion } from '../../../src/data/index.ts';
import { blindConsistency, distortionAgreement, levelConsistency } from '../../../src/env/index.ts';

describe('levelConsistency', () => {
  // Levels are bins of width 0.8: fair is [2.6, 3.4).
  it.each([
    ['fair', 3.0, 2, 1],
    ['fair', 2.6, 2, 1],
    ['fair', 3.4, 2, 0.5],
    ['fair', 2.59, 2, 0.5],
    ['fair', 4.2, 2, 0],
    ['bad', 5, 2, 0],
    ['bad', 2.0, 1, 0],
    ['bad', 3.0, 4, 0.5],
  ])('"%s" with score %f, falloff %f -> %f', (level, score, falloff, expected) => {
    expect(levelConsistency(`the overall quality is ${level}.`, score, falloff)).toBe(expected);
  });

  it.each(['sharp edges', 'good light, bad focus'])(
    'earns 0 where no one level is stated: %s',
    (reasoning) => {
      expect(levelConsistency(reasoning, 3, 2)).toBe(0);
    },
  );
});

describe('blindConsistency', () => {
  it.each([
    [3, 3, 4, 1],
    [2, 3, 4, 0.75],
    [1, 5, 4, 0],
    [1, 5, 2, 0],
    [3.5, 3, 2, 0.75],
  ])('expected %f, answered %f, width %f -> %f', (expected, score, width, value) => {
    expect(blindConsistency(expected, score, width)).toBe(value);
  });
});

describe('distortionAgreement', () => {
  const half = { severityShare: 0.5, acceptRelatives: true };
  const cases: [string, NamedDistortion[], NamedDistortion[], number][] = [
    ['both say there is none', [], [], 1],
    ['equal', [{ type: 'jpeg', level: 4 }], [{ type: 'jpeg', level: 4 }], 1],
    // Credit .5 + .5 * (1 - 2/4) = .75; 2 * .75 / 2.
    ['severity two off', [{ type: 'jpeg', level: 2 }], [{ type: 'jpeg', level: 4 }], 0.75],
    ['severity not said', [{ type: 'jpeg' }], [{ type: 'jpeg', level: 4 }], 0.5],
    ['another type', [{ type: 'haze', level: 4 }], [{ type: 'jpeg', level: 4 }], 0],
    ['one named, none there', [{ type: 'jpeg' }], [], 0],
    // 2 * 1 / (2 + 1).
    [
      'one too many',
      [
        { type: 'jpeg', level: 4 },
        { type: 'banding', level: 1 },
      ],
      [{ type: 'jpeg', level: 4 }],
      2 / 3,
    ],
    [
      'the nearest type of an unseen one',
      [{ type: 'gaussianBlur', level: 3 }],
      [{ type: 'defocusBlur', level: 3 }],
      1,
    ],
    [
      'an unseen type for its nearest',
      [{ type: 'defocusBlur', level: 3 }],
      [{ type: 'gaussianBlur', level: 3 }],
      0,
    ],
    // One mention cannot count twice: 2 * 1 / (1 + 2).
    [
      'one name for a type and its relative',
      [{ type: 'gaussianBlur', level: 3 }],
      [
        { type: 'defocusBlur', level: 3 },
        { type: 'gaussianBlur', level: 3 },
      ],
      2 / 3,
    ],
  ];
  it.each(cases)('%s', (_name, named, reference, expected) => {
    expect(distortionAgreement(named, reference, half)).toBeCloseTo(expected, 12);
  });

  it('without severity share it is plain F1', () => {
    const options = { severityShare: 0, acceptRelatives: true };
    expect(distortionAgreement([{ type: 'jpeg', level: 1 }], [{ type: 'jpeg', level: 5 }], options)).toBe(1);
  });

  it('does not accept relatives when told not to', () => {
    const options = { severityShare: 0, acceptRelatives: false };
    expect(distortionAgreement([{ type: 'gaussianBlur' }], [{ type: 'defocusBlur' }], options)).toBe(0);
  });
});
