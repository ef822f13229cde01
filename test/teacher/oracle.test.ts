import { describe, expect, it } from 'vitest';
import { InputError, levelOfScore, parseAnswer } from '../../src/core/index.ts';
import { ALL_DISTORTIONS, distortionsNamed, levelStated } from '../../src/data/index.ts';
import {
  createOracleTeacher,
  ORACLE_TYPE_BIAS,
  oracleAnswer,
  oracleConfigSchema,
  type TruthDistortion,
} from '../../src/teacher/index.ts';
import { manyRecords, record } from './records.ts';

const config = (over: object = {}) => oracleConfigSchema.parse({ brokenShare: 0, ...over });
const exact = config({ scoreNoise: 0, levelNoise: 0, typeBias: {} });
const wordsOf = (text: string): string[] => text.match(/<\/?\w+>|[a-z]+|\d|[^\s\w]/g) ?? [];

describe('oracleAnswer without noise', () => {
  it('says exactly what is known, in the order content, distortion, effect, conclusion, level', () => {
    const { text } = oracleAnswer(record({ mos: 2.2 }), exact);
    expect(text).toMatch(
      /^<think>(the image shows|this is|we see) a bed of pebbles with strong (jpeg compression|blocking artifacts)\. (block edges appear in flat regions|a grid of blocks breaks the shapes)\. (viewing is unpleasant|the image annoys the viewer), so (the overall quality is|i judge the quality as|the quality level is) poor\.<\/think><answer>2\.20<\/answer>$/,
    );
  });

  it('names the truth, states the level of the score and gives the MOS, for any record', () => {
    for (const each of manyRecords(300)) {
      const parsed = parseAnswer(oracleAnswer(each, exact).text);
      const reasoning = parsed.reasoning ?? '';
      expect(parsed.wellFormed).toBe(true);
      expect(Math.abs((parsed.score ?? 0) - each.mos)).toBeLessThanOrEqual(0.005 + 1e-9);
      expect(levelStated(reasoning)).toBe(levelOfScore(each.mos));
      const strongestFirst = [...(each.distortions ?? [])].sort((a, b) => (b.level ?? 0) - (a.level ?? 0));
      expect(distortionsNamed(reasoning)).toEqual(strongestFirst);
    }
  });

  it('calls a pristine image free of distortion', () => {
    const { text } = oracleAnswer(record({ mos: 4.6, distortions: [] }), exact);
    expect(text).toMatch(/ with (no visible distortion|no clear artifacts)\. /);
  });
});

describe('how the oracle errs', () => {
  const many = (
    over: object,
    mos: number,
    distortions: readonly TruthDistortion[] = [{ type: 'jpeg', level: 4 }],
  ) =>
    Array.from({ length: 4000 }, (_, i) =>
      parseAnswer(oracleAnswer(record({ id: `n${i}`, mos, distortions }), config(over)).text),
    );

  it('scores with the bias of the type and the noise asked for', () => {
    const errors = many({}, 3, [{ type: 'banding', level: 3 }]).map(({ score }) => (score ?? 0) - 3);
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const std = Math.sqrt(errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / errors.length);
    // Standard errors: 0.3 / sqrt(4000) = 0.0047 and 0.3 / sqrt(8000) = 0.0034; four of each.
    expect(Math.abs(mean - 0.35)).toBeLessThan(0.019);
    expect(Math.abs(std - 0.3)).toBeLessThan(0.0135);
  });

  it('takes the bias of the strongest distortion', () => {
    const answer = oracleAnswer(
      record({
        mos: 3,
        distortions: [
          { type: 'banding', level: 2 },
          { type: 'gaussianNoise', level: 4 },
        ],
      }),
      config({ scoreNoise: 0 }),
    );
    expect(parseAnswer(answer.text).score).toBe(2.65);
  });

  it('states a level that fits its score as often as the two noises imply', () => {
    const answers = many({ typeBias: {} }, 3);
    const fits = answers.filter(
      ({ score, reasoning }) => levelStated(reasoning ?? '') === levelOfScore(score ?? 0),
    ).length;
    // 0.8123 by numeric integration over score ~ N(3, 0.3), level ~ N(score, 0.2); four standard errors.
    expect(Math.abs(fits / answers.length - 0.8123)).toBeLessThan(0.025);
  });

  it('breaks the agreed share of its answers', () => {
    const broken = manyRecords(4000).filter(
      (each) => oracleAnswer(each, oracleConfigSchema.parse({})).planted !== undefined,
    );
    // Binomial with 0.08: standard error 0.0043; four of them.
    expect(Math.abs(broken.length / 4000 - 0.08)).toBeLessThan(0.0172);
  });

  it('keeps its biases within 0.35', () => {
    expect(ALL_DISTORTIONS.filter((type) => !(Math.abs(ORACLE_TYPE_BIAS[type] ?? 0) <= 0.35))).toEqual([]);
  });

  it('stays on the scale at its ends', () => {
    const scores = [...many({ scoreNoise: 1 }, 1), ...many({ scoreNoise: 1 }, 5)].map(
      ({ score }) => score ?? 0,
    );
    expect([Math.min(...scores), Math.max(...scores)]).toEqual([1, 5]);
  });
});

describe('the oracle as a teacher', () => {
  it('answers by seed and record id alone, whatever came before', async () => {
    const records = manyRecords(50);
    const ask = async (order: typeof records, seed: number) => {
      const teacher = createOracleTeacher({ seed });
      const texts = new Map<string, string>();
      for (const each of order) {
        const prompt = { id: 'p', version: 1, hash: '', text: '' };
        texts.set(each.id, (await teacher.answer({ record: each, prompt, sample: 0 })).text);
      }
      return records.map(({ id }) => texts.get(id));
    };
    const forward = await ask(records, 7);
    expect(await ask([...records].reverse(), 7)).toEqual(forward);
    expect(await ask(records, 8)).not.toEqual(forward);
  });

  it('refuses an image whose distortions nobody knows', () => {
    const { distortions: _, ...photograph } = record();
    expect(() => oracleAnswer(photograph, exact)).toThrow(InputError);
  });

  it('refuses unknown settings', () => {
    expect(() => oracleConfigSchema.parse({ noise: 1 })).toThrow(/noise/);
  });

  it('keeps to a small vocabulary and a moderate length', () => {
    const answers = manyRecords(3000).map((each) => wordsOf(oracleAnswer(each, config()).text));
    const lengths = answers.map((words) => words.length);
    expect(new Set(answers.flat()).size).toBeLessThanOrEqual(220);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(30);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(55);
  });
});
