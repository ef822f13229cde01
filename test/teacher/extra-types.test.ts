import { describe, expect, it } from 'vitest';
import { parseAnswer } from '../../src/core/index.ts';
import {
  CAPTURE12,
  distortionsNamed,
  EXTRA_DISTORTIONS,
  KADID25,
  levelStated,
  SYNTHESIZED_DISTORTIONS,
} from '../../src/data/index.ts';
import { familiesOf } from '../../src/teacher/families.ts';
import {
  factsOf,
  filterAnswer,
  filterConfigSchema,
  guidanceText,
  oracleAnswer,
} from '../../src/teacher/index.ts';
import { oracleConfigSchema } from '../../src/teacher/oracle.ts';
import { record } from './records.ts';

const exact = oracleConfigSchema.parse({ scoreNoise: 0, levelNoise: 0, brokenShare: 0, typeBias: {} });
const lexicon = filterConfigSchema.parse({});
const families = filterConfigSchema.parse({ vocabulary: 'families' });
const said = (sentence: string): string =>
  `<think>${sentence} the overall quality is poor.</think><answer>2.50</answer>`;
const reasons = (...given: Parameters<typeof filterAnswer>): string[] =>
  filterAnswer(...given).map(({ reason }) => reason);

describe('what a record says about types beyond the first set', () => {
  const imported = { id: 'a', content: null, distortions: [], source: 'imported' as const };

  it.each([
    ['jitter', 3.4, [{ type: 'jitter', level: 3 }]],
    ['jitter', 5.4, [{ type: 'jitter', level: 5 }]],
    ['jitter', undefined, [{ type: 'jitter' }]],
    ['jpeg + colorBlocks', 4, [{ type: 'jpeg' }, { type: 'colorBlocks' }]],
    ['Gaussian blur', 4, undefined],
    ['jitter + something else', 4, undefined],
    ['constructor', 4, undefined],
  ])('%s of severity %s', (distortion, level, expected) => {
    expect(
      factsOf({ ...imported, distortion, ...(level === undefined ? {} : { level }) }).distortions,
    ).toEqual(expected);
  });

  it('nothing where nothing is written', () => {
    expect(factsOf(imported).distortions).toBeUndefined();
  });
});

describe('the oracle', () => {
  it.each(EXTRA_DISTORTIONS)('names %s with its severity and no other type', (type) => {
    for (const level of [1, 3, 5] as const) {
      for (let i = 0; i < 20; i++) {
        const one = record({ id: `${type}${i}`, distortions: [{ type, level }] });
        const { reasoning = '' } = parseAnswer(oracleAnswer(one, exact).text);
        expect(distortionsNamed(reasoning)).toEqual([{ type, level }]);
        expect(levelStated(reasoning)).toBe('poor');
      }
    }
  });

  it('leaves a severity out that nobody knows', () => {
    const one = record({ distortions: [{ type: 'jitter' }, { type: 'colorBlocks' }] });
    expect(distortionsNamed(oracleAnswer(one, exact).text)).toEqual([
      { type: 'jitter' },
      { type: 'colorBlocks' },
    ]);
  });

  it('is accepted by the filters for every type of KADID-10k and of the capture simulations', () => {
    const refused = [...new Set([...KADID25, ...CAPTURE12])].filter((type) => {
      const one = record({ id: type, distortions: [{ type, level: 4 }] });
      const { text } = oracleAnswer(one, exact);
      return filterAnswer(text, one, lexicon).length + filterAnswer(text, one, families).length > 0;
    });
    expect(refused).toEqual([]);
  });
});

describe('the filter of distortions', () => {
  const jittered = record({ distortions: [{ type: 'jitter', level: 4 }] });

  it('refuses a type that is not there, one that is missed, and a severity that is off', () => {
    expect(reasons(said('we see strong jitter and severe color blocks.'), jittered, lexicon)).toEqual([
      'distortion-not-present',
    ]);
    expect(reasons(said('we see a lake.'), jittered, lexicon)).toEqual(['distortion-missed']);
    expect(reasons(said('we see slight jitter.'), jittered, lexicon)).toEqual(['severity-off']);
  });

  it('takes the nearest training type for an extra type that has one', () => {
    const noisy = record({ distortions: [{ type: 'sensorNoise', level: 3 }] });
    expect(reasons(said('we see moderate white noise.'), noisy, lexicon)).toEqual([]);
    expect(reasons(said('we see moderate motion blur.'), noisy, lexicon)).toEqual([
      'distortion-not-present',
      'distortion-missed',
    ]);
  });

  it('judges no severity and misses nothing where the severity is unknown', () => {
    const unknown = record({ distortions: [{ type: 'jitter' }, { type: 'jpeg' }] });
    expect(reasons(said('we see slight jitter.'), unknown, lexicon)).toEqual([]);
    expect(reasons(said('we see a lake.'), unknown, lexicon)).toEqual([]);
    expect(reasons(said('we see strong haze.'), unknown, lexicon)).toEqual(['distortion-not-present']);
  });

  it.each([
    ['chromaticAberration', 'There is purple fringing along the branches.'],
    ['chromaticAberration', '树枝边缘有明显的紫边。'],
    ['misexposure', 'The sky is blown and far too bright.'],
    ['misexposure', 'Everything is too dark.'],
    ['denoising', 'Skin looks waxy and over-smoothed.'],
    ['denoising', '面部过度平滑，像蜡像。'],
    ['oversaturation', 'The colours are garish.'],
    ['oversaturation', '画面过于鲜艳。'],
    ['cameraShake', 'The camera shook; shaky hands smeared the lamps.'],
    ['jitter', 'Edges look frayed and scrambled.'],
    ['colorBlocks', '画面上有许多色块。'],
    ['patchDisplacement', 'Small patches of the wall are displaced.'],
    ['contrastChange', 'It has a harsh contrast.'],
    ['jpeg2000', 'Heavy compression melted the grass.'],
    ['whiteBalance', 'The white balance is off.'],
    ['sensorNoise', 'It is grainy.'],
  ] as const)('families: %s is named by "%s" and not by a sentence about a lake', (type, sentence) => {
    const one = record({ distortions: [{ type, level: 4 }] });
    const quiet = { ...families, maxLevelDistance: null };
    expect(reasons(said(sentence), one, quiet)).not.toContain('distortion-missed');
    expect(reasons(said('We see a lake.'), one, quiet)).toContain('distortion-missed');
  });

  it('families: every type has one, and those of the first set have exactly one', () => {
    const counts = SYNTHESIZED_DISTORTIONS.map((type) => familiesOf(type).length);
    expect(counts.slice(0, 16)).toEqual(new Array(16).fill(1));
    expect(Math.min(...counts)).toBe(1);
  });
});

it('guidance names an extra type in both languages', () => {
  const one = record({ distortions: [{ type: 'hdrHalo', level: 5 }] });
  expect(guidanceText(one, 'distortions', 'en')).toBe(
    'Distortions applied to this picture, strongest first: severe hdr halos.',
  );
  expect(guidanceText(one, 'distortions', 'zh')).toBe('这张图像被施加的失真，由强到弱：hdr halos（严重）。');
});
