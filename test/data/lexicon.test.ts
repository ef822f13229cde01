import { describe, expect, it } from 'vitest';
import { QUALITY_LEVELS } from '../../src/core/index.ts';
import {
  CONCLUSIONS,
  CROSS_DISTORTIONS,
  DISTORTION_WORDS,
  distortionsNamed,
  EXTRA_DISTORTIONS,
  levelStated,
  NEAREST_TRAINING_TYPE,
  PRISTINE_WORDS,
  SEVERITY_WORDS,
  SYNTHESIZED_DISTORTIONS,
  type SynthesizedDistortion,
  TRAINING_DISTORTIONS,
} from '../../src/data/index.ts';

const named = SYNTHESIZED_DISTORTIONS.flatMap((type) =>
  [...DISTORTION_WORDS[type].phrases, ...DISTORTION_WORDS[type].aliases].map((phrase) => ({ type, phrase })),
);
const remarks = [
  ...SYNTHESIZED_DISTORTIONS.flatMap((type) => DISTORTION_WORDS[type].effects),
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
    const short = SYNTHESIZED_DISTORTIONS.filter(
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

  it('maps an extra type to a training type or to itself', () => {
    const wrong = EXTRA_DISTORTIONS.filter((type) => {
      const nearest = NEAREST_TRAINING_TYPE[type];
      return nearest !== type && !(TRAINING_DISTORTIONS as readonly string[]).includes(nearest);
    });
    expect(wrong).toEqual([]);
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

/** Sentences as a person would write them, and what each names. */
const SENTENCES: [string, SynthesizedDistortion, number?][] = [
  ['Strong color diffusion lets the red of the coat run into the snow.', 'colorDiffusion', 4],
  ['There is a mild colour bleeding around the letters of the sign.', 'colorDiffusion', 2],
  ['The petals show a severe color displacement to the left.', 'colorDisplacement', 5],
  ['Severe color quantization leaves the sky in three blues.', 'colorQuantization', 5],
  ['A reduced palette turns the skin into flat areas.', 'colorQuantization'],
  ['The market stall suffers from moderate oversaturation.', 'oversaturation', 3],
  ['Gaudy colours make the fruit look like plastic.', 'oversaturation'],
  ['Wavelet compression, severe in the grass, melts its texture.', 'jpeg2000'],
  ['It has strong JPEG2000 artifacts near the roof.', 'jpeg2000', 4],
  ['It has slight JPEG 2000 compression.', 'jpeg2000', 1],
  ['Moderate chroma noise speckles the wall in green and magenta.', 'chromaNoise', 3],
  ['Slight colour noise is visible in the shadows.', 'chromaNoise', 1],
  ['The hair looks painted because of strong denoising artifacts.', 'denoising', 4],
  ['A moderate raised brightness takes the mood from the scene.', 'brightening', 3],
  ['The lowered brightness swallows the coat.', 'darkening'],
  ['There is a slight mean shift of all tones.', 'meanShift', 1],
  ['A strong pixel jitter frays every edge.', 'jitter', 4],
  ['Severe jitter makes the text hard to read.', 'jitter', 5],
  ['Some misplaced patches sit on the lake.', 'patchDisplacement'],
  ['Mild non-eccentricity patches can be found in the trees.', 'patchDisplacement', 2],
  ['Severe color blocks cover both faces.', 'colorBlocks', 5],
  ['The picture went through a moderate contrast change.', 'contrastChange', 3],
  ['Strong sensor noise crawls over the night sky.', 'sensorNoise', 4],
  ['The shirt shows slight color moire.', 'demosaicing', 1],
  ['Zipper artifacts run along the fence.', 'demosaicing'],
  ['Severe camera shake draws each lamp as a hook.', 'cameraShake', 5],
  ['The lamps open into hexagons by moderate aperture blur.', 'apertureBlur', 3],
  ['A strong misexposure spoils the beach.', 'misexposure', 4],
  ['The wrong exposure hides the window.', 'misexposure'],
  ['Mild wrong white balance turns the plates yellow.', 'whiteBalance', 2],
  ['Strong HDR halos glow around the tower.', 'hdrHalo', 4],
  ['Tone-mapping halos surround the hills.', 'hdrHalo'],
  ['Moderate upscaling artifacts round off the letters.', 'upscaling', 3],
  ['Severe chromatic aberration parts red from blue in the corners.', 'chromaticAberration', 5],
  ['Slight purple fringing lines the branches.', 'chromaticAberration', 1],
  ['After strong recompression the meme is hardly legible.', 'recompression', 4],
];

describe('the words of the extra types', () => {
  it.each(SENTENCES)('%s', (sentence, type, level) => {
    expect(distortionsNamed(sentence)).toEqual([level === undefined ? { type } : { type, level }]);
  });

  it('are all tried above', () => {
    const tried = new Set(SENTENCES.map(([, type]) => type));
    expect(EXTRA_DISTORTIONS.filter((type) => !tried.has(type))).toEqual([]);
  });

  it.each([
    'There is no color noise.',
    'The picture was taken without camera shake.',
    'no visible recompression',
    'neither chromatic aberration',
  ])('count as denied in "%s"', (text) => {
    expect(distortionsNamed(text)).toEqual([]);
  });

  it('leave the names of the first types alone', () => {
    expect(
      distortionsNamed('strong jpeg compression, mild white noise, color cast, banding and low contrast'),
    ).toEqual([
      { type: 'jpeg', level: 4 },
      { type: 'gaussianNoise', level: 2 },
      { type: 'colorShift' },
      { type: 'banding' },
      { type: 'lowContrast' },
    ]);
  });

  it.each([
    'a noisy color scene with blocks of houses',
    'the compression of time',
    'sensors and noise',
    'patches of snow and squares of light',
  ])('are not found in "%s"', (text) => {
    expect(distortionsNamed(text)).toEqual([]);
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
