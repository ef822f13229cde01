import { describe, expect, it } from 'vitest';
import { ALL_DISTORTIONS, DISTORTION_WORDS } from '../../../src/data/index.ts';
import {
  type Description,
  DISTORTION_FAMILY,
  measureDescriptions,
  readDescription,
} from '../../../src/evaluate/index.ts';

const read = (text: string) => readDescription({ id: 'a', text, score: null }, 'free');

describe('the free vocabulary', () => {
  it.each<[string, [string, number | undefined][]]>([
    ['The subject is slightly out of focus.', [['blur', 1]]],
    [
      'Severe noise and a bit of blurriness.',
      [
        ['blur', 2],
        ['noise', 5],
      ],
    ],
    [
      'The photo is grainy and heavily compressed.',
      [
        ['compression', 4],
        ['noise', undefined],
      ],
    ],
    ['It lacks contrast and looks washed out.', [['contrast', undefined]]],
    [
      'The sky is overexposed, while the street is too dark.',
      [
        ['overexposure', undefined],
        ['underexposure', undefined],
      ],
    ],
    [
      'Oversaturated; pixelated edges.',
      [
        ['color', undefined],
        ['pixelation', undefined],
      ],
    ],
    ['There is no noise, but some blur.', [['blur', 2]]],
    ["It isn't blurry and shows no visible compression.", []],
    ['The image is free from noise.', []],
    ['Sharp, vivid and well lit.', []],
  ])('%s', (text, expected) => {
    expect([...read(text).named].sort()).toEqual(expected);
  });

  it('knows every name of the lexicon, under the family of its type', () => {
    for (const type of ALL_DISTORTIONS) {
      for (const phrase of [...DISTORTION_WORDS[type].phrases, ...DISTORTION_WORDS[type].aliases]) {
        expect([phrase, [...read(`there is ${phrase} here`).named.keys()]]).toEqual([
          phrase,
          [DISTORTION_FAMILY[type]],
        ]);
      }
    }
  });

  it('sees where all distortion is denied', () => {
    expect(read('There are no noticeable artifacts.').denies).toBe(true);
    expect(read('The artifacts are noticeable.').denies).toBe(false);
  });

  it('compares families with families', () => {
    const descriptions: Description[] = [
      { id: 'a', text: 'Very blurry.', score: null, distortions: [{ type: 'motionBlur', level: 4 }] },
      { id: 'b', text: 'Quite noisy.', score: null, distortions: [{ type: 'jpeg', level: 2 }] },
    ];
    const { naming, severity } = measureDescriptions(descriptions, { vocabulary: 'free', resamples: 0 });
    expect(naming.precision).toMatchObject({ count: 1, of: 2 });
    expect(naming.recall).toMatchObject({ count: 1, of: 2 });
    expect(severity.exact).toMatchObject({ count: 1, of: 1 });
  });
});
