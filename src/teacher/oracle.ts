import { z } from 'zod';
import { formatAnswer, InputError, levelOfScore, Rng, SCORE_MAX, SCORE_MIN } from '../core/index.ts';
import { SYNTHESIZED_DISTORTIONS, type SynthesizedDistortion } from '../data/index.ts';
import { breakAnswer, ORACLE_DEFECTS } from './oracle-defects.ts';
import type { Teacher, TeacherAnswer, TeachingRecord, TruthDistortion } from './teacher.ts';
import { byStrength, joinReasoning, reasoningParts } from './writing.ts';

/**
 * What the oracle thinks too much (negative) or too little (positive) of, in points of the score: it is hard on
 * noise and soft on banding and pale color, as people who teach by rules are. Chosen by us, not measured.
 */
export const ORACLE_TYPE_BIAS: Readonly<Partial<Record<SynthesizedDistortion, number>>> = {
  gaussianBlur: -0.1,
  motionBlur: 0.15,
  gaussianNoise: -0.35,
  impulseNoise: -0.25,
  jpeg: 0.15,
  pixelation: -0.15,
  overexposure: 0.2,
  underexposure: -0.2,
  lowContrast: 0.2,
  colorShift: -0.1,
  desaturation: 0.3,
  banding: 0.35,
  oversharpening: 0.15,
  defocusBlur: -0.1,
  speckleNoise: -0.25,
  haze: 0.1,
};

export const oracleConfigSchema = z.strictObject({
  seed: z.union([z.int(), z.string()]).default(1),
  scoreNoise: z.number().min(0).default(0.3).describe('standard deviation of the score around its own bias'),
  levelNoise: z
    .number()
    .min(0)
    .default(0.2)
    .describe('standard deviation between the opinion behind the level word and the score given'),
  typeBias: z
    .partialRecord(z.enum(SYNTHESIZED_DISTORTIONS), z.number().min(-2).max(2))
    .default(ORACLE_TYPE_BIAS)
    .describe('added to the MOS by the strongest distortion'),
  brokenShare: z.number().min(0).max(1).default(0.08).describe('share of answers broken on purpose'),
});
export type OracleConfig = z.infer<typeof oracleConfigSchema>;

const clamp = (score: number): number => Math.min(SCORE_MAX, Math.max(SCORE_MIN, score));

function truthOf(record: TeachingRecord): readonly TruthDistortion[] {
  if (record.distortions !== undefined) return record.distortions;
  throw new InputError(`record ${record.id} does not say which distortions it has`, {
    hint: 'the oracle teaches generated images; use the template teacher for photographs',
  });
}

/**
 * The answer to one record, a pure function of configuration and record (the random stream is forked by the
 * record's id). It errs as a model does:
 *   score = clamp(MOS + bias(strongest type) + N(0, scoreNoise)), rounded to two decimals;
 *   level = level of clamp(score + N(0, levelNoise)), so that some texts do not fit their score;
 *   and a share of the answers is broken on purpose (oracle-defects.ts).
 */
export function oracleAnswer(record: TeachingRecord, config: OracleConfig): TeacherAnswer {
  const rng = new Rng(config.seed).fork('oracle', record.id);
  const truth = truthOf(record);
  const strongest = byStrength(truth)[0];
  const bias = strongest === undefined ? 0 : (config.typeBias[strongest.type] ?? 0);
  const opinion = record.mos + bias + rng.normal(0, config.scoreNoise);
  const level = levelOfScore(clamp(opinion + rng.normal(0, config.levelNoise)));
  const parts = reasoningParts(record, truth, level, rng.fork('words'));
  const score = clamp(opinion);
  const chance = rng.fork('defect');
  if (chance.uniform() >= config.brokenShare) return { text: formatAnswer(joinReasoning(parts), score) };
  const planted = chance.pick(ORACLE_DEFECTS);
  return { text: breakAnswer(planted, parts, score, record, chance), planted };
}

/** A teacher that knows how each generated image was made. */
export function createOracleTeacher(settings: z.input<typeof oracleConfigSchema> = {}): Teacher {
  const config = oracleConfigSchema.parse(settings);
  return {
    name: 'oracle',
    version: '1',
    seed: config.seed,
    settings: config,
    answer: async ({ record, sample }) =>
      oracleAnswer(record, sample === 0 ? config : { ...config, seed: `${config.seed}/${sample}` }),
  };
}
