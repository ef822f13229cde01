import { z } from 'zod';
import { formatAnswer, levelOfScore, Rng } from '../core/index.ts';
import type { Teacher, TeachingRecord } from './teacher.ts';
import { judgementParts } from './writing.ts';

export const templateConfigSchema = z.strictObject({
  seed: z.int().min(0).default(1),
  scoreStd: z
    .number()
    .min(0)
    .max(2)
    .default(0)
    .describe('standard deviation of the scores about the MOS, as of a panel of raters'),
});
export type TemplateConfig = z.infer<typeof templateConfigSchema>;

/**
 * Reasoning for a photograph of which only the MOS is known: the level and a remark that fits it, and the MOS
 * as the score. Names no distortion, since nobody knows them.
 */
export function templateAnswer(record: Pick<TeachingRecord, 'id' | 'mos'>, seed: number | string): string {
  const { conclusion, judgement } = judgementParts(
    levelOfScore(record.mos),
    new Rng(seed).fork('template', record.id),
  );
  return formatAnswer(`this is a photograph. ${conclusion}, ${judgement}.`, record.mos);
}

/**
 * A teacher that knows the MOS alone. With a spread each answer is one rater's: a score drawn about the MOS, cut to
 * [1, 5], and the level of that score. Several such answers keep a model from learning the digits of few pictures
 * by heart.
 */
export function createTemplateTeacher(settings: z.input<typeof templateConfigSchema> = {}): Teacher {
  const { seed, scoreStd } = templateConfigSchema.parse(settings);
  return {
    name: 'template',
    version: '1',
    seed,
    settings: { scoreStd },
    answer: async ({ record, sample }) => {
      const draw = new Rng(seed).fork('template-score', record.id, sample);
      const drawn = record.mos + (scoreStd === 0 ? 0 : draw.normal(0, scoreStd));
      // As it will be written: the level must be that of the score that one reads.
      const mos = Number(Math.min(5, Math.max(1, drawn)).toFixed(2));
      return { text: templateAnswer({ id: record.id, mos }, sample === 0 ? seed : `${seed}/${sample}`) };
    },
  };
}
