import { describe, expect, it } from 'vitest';
import { InputError, levelOfScore, parseAnswer, QUALITY_LEVELS } from '../../src/core/index.ts';
import { CONTENT_PHRASES, distortionsNamed, levelStated } from '../../src/data/index.ts';
import { captionOf, factsOf, teachingRecord, templateAnswer } from '../../src/teacher/index.ts';
import { manyRecords, record } from './records.ts';

describe('captionOf', () => {
  it.each([
    [[{ type: 'gaussianBlur', level: 3 }], 'a bed of pebbles with moderate gaussian blur.'],
    [
      [
        { type: 'jpeg', level: 1 },
        { type: 'haze', level: 5 },
      ],
      'a bed of pebbles with severe haze and slight jpeg compression.',
    ],
    [[], 'a bed of pebbles with no visible distortion.'],
  ] as const)('canonical wording, case %#', (distortions, expected) => {
    expect(captionOf({ id: 'a', contentKind: 'pebbles', distortions }, 'canonical')).toBe(expected);
  });

  it('says "a scene" for content it does not know', () => {
    expect(captionOf({ id: 'a', contentKind: 'toString', distortions: [] }, 'canonical')).toBe(
      'a scene with no visible distortion.',
    );
  });

  it('names the truth in varied wording, and never a level or a number', () => {
    const guilty = /\d|\b(?:bad|poor|fair|good|excellent|quality|score)\b/;
    for (const each of manyRecords(300)) {
      const caption = captionOf(each);
      expect(caption).not.toMatch(guilty);
      const strongestFirst = [...(each.distortions ?? [])].sort((a, b) => (b.level ?? 0) - (a.level ?? 0));
      expect(distortionsNamed(caption)).toEqual(strongestFirst);
    }
  });

  it('does not depend on the MOS', () => {
    expect(captionOf(record({ mos: 1 }))).toBe(captionOf(record({ mos: 5 })));
  });

  it('refuses an image whose distortions nobody knows', () => {
    expect(() => captionOf({ id: 'a' })).toThrow(InputError);
  });

  it('content phrases name no level', () => {
    const words = Object.values(CONTENT_PHRASES).flatMap((phrase) => phrase.split(' '));
    expect(words.filter((word) => (QUALITY_LEVELS as readonly string[]).includes(word))).toEqual([]);
  });
});

describe('templateAnswer', () => {
  it.each([1, 1.79, 1.8, 3.0, 4.2, 5])('MOS %f: its level and score, and no distortion', (mos) => {
    const parsed = parseAnswer(templateAnswer({ id: 'p', mos }, 1));
    expect(parsed).toMatchObject({ wellFormed: true, score: mos });
    expect(levelStated(parsed.reasoning ?? '')).toBe(levelOfScore(mos));
    expect(distortionsNamed(parsed.reasoning ?? '')).toEqual([]);
  });
});

describe('records of a data set', () => {
  const image = {
    id: 'i1',
    image: 'i1.png',
    dataset: 'd',
    split: 'train',
    mos: 3,
    mosStd: 0.4,
    raters: 20,
    distortions: [{ type: 'haze', strength: 2.2, level: 2 }],
    content: { kind: 'sign', busyness: 0.5, detail: 'smooth', elements: [] },
    group: 'g',
    source: 'synthetic',
    generator: null,
  } as const;
  const copy = { ...image, distortions: [...image.distortions], content: { ...image.content, elements: [] } };

  it('give the teacher content, distortions and MOS', () => {
    expect(teachingRecord({ ...copy })).toEqual({
      id: 'i1',
      image: 'i1.png',
      dataset: 'd',
      split: 'train',
      mos: 3,
      contentKind: 'sign',
      distortions: [{ type: 'haze', level: 2 }],
    });
  });

  it('of an imported set have unknown distortions, not none', () => {
    expect(factsOf({ ...copy, source: 'imported', content: null, distortions: [] })).toEqual({ id: 'i1' });
  });

  it('without a MOS cannot be taught', () => {
    expect(() => teachingRecord({ ...copy, mos: null })).toThrow(InputError);
  });
});
