import { describe, expect, it } from 'vitest';
import { formatAnswer } from '../../src/core/index.ts';
import {
  FILTER_MEANINGS,
  FILTER_REASONS,
  filterAnswer,
  filterConfigSchema,
  type Language,
  languageProblem,
  refusalIn,
  resolveFilters,
  statedLevel,
  wordCount,
} from '../../src/teacher/index.ts';

const rules = (language: Language | null = 'en', over: object = {}) =>
  resolveFilters(filterConfigSchema.parse(over), { freely: true, language });
const reasons = (text: string, mos = 2.4, language: Language = 'en', finishReason?: string) =>
  filterAnswer(text, { mos }, rules(language), finishReason).map(({ reason }) => reason);

const BODY =
  'The picture shows a market at night with many people. The faces in the middle are blurry and the dark parts hide all detail, which tires the eye.';
const CHINESE =
  '画面是夜晚的市场，人群占据中央。主体人物的面部模糊，边缘不清，暗部细节几乎看不见，整体观感令人疲劳。整体质量为较差。';
const sound = formatAnswer(`${BODY} Overall, the quality is poor.`, 2.4);

describe('filters of free texts', () => {
  it('accept a sound answer in English and in Chinese', () => {
    expect(reasons(sound)).toEqual([]);
    expect(reasons(formatAnswer(CHINESE, 2.4), 2.4, 'zh')).toEqual([]);
  });

  it.each([
    [
      'leaked-instruction',
      `${BODY} According to the background information this is so. Overall, the quality is poor.`,
    ],
    ['leaked-instruction', `${BODY} As instructed, I add that the quality is poor.`],
    ['leaked-score', `${BODY} The given rating is low. Overall, the quality is poor.`],
    ['truncated', `${BODY} Overall, the quality is poor and the`],
    ['too-short', 'It is blurry. The quality is poor.'],
    ['level-disagrees', `${BODY} Overall, the quality is excellent.`],
    ['repetition', `${BODY} ${BODY} Overall, the quality is poor.`],
  ])('refuse for %s alone: %s', (reason, reasoning) => {
    expect(reasons(formatAnswer(reasoning, 2.4))).toEqual([reason]);
  });

  it.each([
    [
      'a dark background is no leak',
      'The background of the picture is dark and the person in front was given good light.',
    ],
    [
      'what one cannot see in the picture is no refusal',
      'One cannot see any noise in the sky, and nothing else disturbs the view of the hills.',
    ],
  ])('accept: %s', (_what, sentence) => {
    expect(reasons(formatAnswer(`${sentence} ${BODY} Overall, the quality is poor.`, 2.4))).toEqual([]);
  });

  it('refuse what the server cut, whatever it looks like', () => {
    expect(reasons(sound, 2.4, 'en', 'length')).toEqual(['truncated']);
  });

  it('refuse more words than allowed', () => {
    const long = Array.from({ length: 120 }, (_, i) => `The region number ${i} of it is sharp.`).join(' ');
    expect(reasons(formatAnswer(`${long} Overall, the quality is poor.`, 2.4))).toContain('too-long');
  });

  it('refuse the other language, both ways', () => {
    expect(reasons(formatAnswer(CHINESE, 2.4), 2.4, 'en')).toContain('language');
    expect(reasons(sound, 2.4, 'zh')).toEqual(['language']);
  });

  it('refuse a level in Chinese that contradicts the score', () => {
    expect(reasons(formatAnswer(CHINESE.replace('较差', '优秀'), 2.4), 2.4, 'zh')).toEqual([
      'level-disagrees',
    ]);
  });

  it('refuse a refusal', () => {
    expect(reasons("I'm sorry, but I can't assist with that.")).toEqual(['format', 'refusal']);
  });

  it('leave simulated teachers alone: their texts are short and alike by construction', () => {
    const short = formatAnswer('strong jpeg compression. the quality is poor', 2.4);
    expect(filterAnswer(short, { mos: 2.4 }, filterConfigSchema.parse({}))).toEqual([]);
  });
});

describe('known distortions against anybody’s words', () => {
  const named = (sentence: string, level: 1 | 2 | 3 | 4 | 5 = 4) =>
    filterAnswer(
      formatAnswer(
        `${sentence} The picture shows a market at night with many people in front of it. Overall, the quality is poor.`,
        2.4,
      ),
      { mos: 2.4, distortions: [{ type: 'gaussianNoise', level }] },
      rules(),
    ).map(({ reason }) => reason);

  it.each([
    ['another word of the family', 'Heavy grain covers the sky.', []],
    ['another member of the family', 'There is strong impulse noise in the sky.', []],
    ['nothing of the family', 'Everything in the sky is calm and even.', ['distortion-missed']],
    ['only a denial', 'There is no visible noise in the sky.', ['distortion-missed']],
    ['a slight fault besides', 'Grainy all over, with slight motion blur.', []],
    [
      'a strong fault that is not there',
      'Grainy all over, with strong motion blur.',
      ['distortion-not-present'],
    ],
    ['the wrong strength', 'There is slight white noise in the sky.', ['severity-off']],
  ])('%s', (_what, sentence, expected) => {
    expect(named(sentence)).toEqual(expected);
  });
});

describe('measures of texts', () => {
  it.each([
    ['one two three', 3],
    ['模糊的图像', 3],
    ['这是 JPEG 压缩', 3],
    ['', 0],
  ])('%s has %i words', (text, count) => {
    expect(wordCount(text)).toBe(count);
  });

  it('tells English from French, and does not judge a few words', () => {
    const french = 'cette photo montre une rue vide sous la pluie avec beaucoup de grain dans les ombres';
    expect(languageProblem(french, 'en')).toBe('only 0 % of its words are common English words');
    expect(languageProblem('tout est flou', 'en')).toBeUndefined();
  });

  it.each(['很抱歉，我无法评价这张图像。', 'As an AI, I have no eyes.', 'I am unable to view images.'])(
    'hears the refusal in: %s',
    (text) => {
      expect(refusalIn(text)).toBeDefined();
    },
  );

  it.each([
    ['整体质量为良好。', 'good'],
    ['画质一般。整体质量为极差。', 'bad'],
    ['整体质量为良好，质量较差。', undefined],
    ['色彩优秀。', undefined],
    ['The quality is fair.', 'fair'],
  ])('the level stated in %s is %s', (text, level) => {
    expect(statedLevel(text)).toBe(level);
  });
});

it('every reason is explained', () => {
  expect(Object.keys(FILTER_MEANINGS).sort()).toEqual([...FILTER_REASONS].sort());
});
