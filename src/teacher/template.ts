import { formatAnswer, levelOfScore, Rng } from '../core/index.ts';
import type { Teacher, TeachingRecord } from './teacher.ts';
import { judgementParts } from './writing.ts';

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

export function createTemplateTeacher(seed: number | string = 1): Teacher {
  return {
    name: 'template',
    version: '1',
    seed,
    answer: async ({ record }) => ({ text: templateAnswer(record, seed) }),
  };
}
