import { describe, expect, it } from 'vitest';
import { QUALITY_LEVELS } from '../../src/core/index.ts';
import {
  ALL_DISTORTIONS,
  CONCLUSIONS,
  CROSS_DISTORTIONS,
  DISTORTION_WORDS,
  distortionsNamed,
  levelStated,
  NEAREST_TRAINING_TYPE,
  PRISTINE_WORDS,
  SEVERITY_WORDS,
  TRAINING_DISTORTIONS,
} from '../../src/data/index.ts';

const named = ALL_DISTORTIONS.flatMap((type) =>
  [...DISTORTION_WORDS[type].phrases, ...DISTORTION_WORDS[type].aliases].map((phrase) => ({ type, phrase })),
);
const remarks = [
  ...ALL_DISTORTIONS.flatMap((type) => DISTORTION_WORDS[type].effects),
  ...PRISTINE_WORDS.phrases,
  ...PRISTINE_WORDS.effects,
  ...Object.values(CONCLUSIONS).flat(),
];

describe('the lexicon', () => {
  it.each(named)('reads "$phrase" as $type and nothing else', ({ type, phrase }) => {
    expect(distortionsNamed(phrase)).toEqual([{ type }]);
  });

  it('never uses a phrase of one type inside a phrase of another', () => {
    const clashes = named.flatMap((a) =>
      named.filter((b) => a.type !== b.type && ` ${b.phrase} `.includes(` ${a.phrase} `)),
    );
    expect(clashes).toEqual([]);
  });

  it('has two names and two effects for each type, one name at least', () => {
    const short = ALL_DISTORTIONS.filter(
      (type) => DISTORTION_WORDS[type].phrases.length < 2 || DISTORTION_WORDS[type].effects.length < 2,
    );
    expect(short).toEqual([]);
  });

  it('names no distortion, level or severity in its remarks', () => {
    const words = new Set<string>([...QUALITY_LEVELS, ...Object.values(SEVERITY_WORDS)]);
    const guilty = remarks.filter(
      (remark) => distortionsNamed(remark).length > 0 || remark.split(' ').some((word) => words.has(word)),
    );
    expect(guilty).toEqual([]);
  });

  it('gives no two levels the same conclusion', () => {
    const all = Object.values(CONCLUSIONS).flat();
    expect(new Set(all).size).toBe(all.length);
  });

  it('maps training types to themselves and unseen types to a training type', () => {
    expect(TRAINING_DISTORTIONS.filter((type) => NEAREST_TRAINING_TYPE[type] !== type)).toEqual([]);
    expect(CROSS_DISTORTIONS.map((type) => NEAREST_TRAINING_TYPE[type])).toEqual([
      'gaussianBlur',
      'gaussianNoise',
      'lowContrast',
    ]);
  });
});

describe('distortionsNamed', () => {
  it.each([
    ['', []],
    ['the image is clear', []],
    ['strong gaussian blur', [{ type: 'gaussianBlur', level: 4 }]],
    [
      'with mild soft blur and severe salt and pepper noise.',
      [
        { type: 'gaussianBlur', level: 2 },
        { type: 'impulseNoise', level: 5 },
      ],
    ],
    ['A Moderate amount of JPEG compression', [{ type: 'jpeg', level: 3 }]],
    ['salt-and-pepper noise', [{ type: 'impulseNoise' }]],
    ['severe. Banding', [{ type: 'banding' }]],
    ['slight haze and banding', [{ type: 'haze', level: 1 }, { type: 'banding' }]],
    ['banding, later strong banding', [{ type: 'banding', level: 4 }]],
    ['mild banding, later strong banding', [{ type: 'banding', level: 2 }]],
    ['no motion blur, but slight haze', [{ type: 'haze', level: 1 }]],
    ['without visible banding', []],
    ['multiplicative noise', [{ type: 'speckleNoise' }]],
    ['noise and blur', []],
    ['hazel eyes', []],
  ])('%j', (text, expected) => {
    expect(distortionsNamed(text)).toEqual(expected);
  });
});

describe('levelStated', () => {
  it.each([
    ['so the overall quality is poor.', 'poor'],
    ['The image is of Excellent quality.', 'excellent'],
    ['a good composition, but the overall quality of this picture is rather poor', 'poor'],
    ['quality is fair. a second look: the quality level is good.', 'good'],
    ['this looks bad', 'bad'],
    ['a bad, bad picture', 'bad'],
    ['the quality is not good', undefined],
    ["the quality isn't very good", undefined],
    ['the quality is fair to good', undefined],
    ['good light and bad focus', undefined],
    ['a goodness of badly fairy poorhouses', undefined],
    ['', undefined],
  ])('%j', (text, expected) => {
    expect(levelStated(text)).toBe(expected);
  });
});
