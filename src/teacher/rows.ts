import { z } from 'zod';
import { levelOfScore, parseAnswer, QUALITY_LEVELS } from '../core/index.ts';
import { levelStated } from '../data/index.ts';
import { FILTER_REASONS, type Rejection } from './filters.ts';
import type { Teacher, TeacherAnswer, TeacherRequest } from './teacher.ts';

/** One line of a distilled data set: what any teacher said about one image, and whether it may be learnt from. */
export const coldStartRowSchema = z.strictObject({
  id: z.string().min(1),
  image: z.string().min(1),
  dataset: z.string().min(1),
  split: z.string().min(1),
  prompt: z.strictObject({
    id: z.string().min(1),
    version: z.int().positive(),
    hash: z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal'),
  }),
  /** The teacher's whole output, surrounding white space removed. */
  response: z.string(),
  /** The score read from the response, null where none could be read. */
  score: z.number().nullable(),
  mos: z.number().min(1).max(5),
  /** The level stated in the reasoning, null where none or several are. */
  level: z.enum(QUALITY_LEVELS).nullable(),
  teacher: z.strictObject({
    name: z.string().min(1),
    version: z.string().min(1),
    seed: z.union([z.int(), z.string()]).nullable(),
  }),
  accepted: z.boolean(),
  rejectedBecause: z
    .array(z.strictObject({ reason: z.enum(FILTER_REASONS), detail: z.string() }))
    .min(1)
    .optional(),
});
export type ColdStartRow = z.infer<typeof coldStartRowSchema>;

export function coldStartRow(
  { record, prompt }: TeacherRequest,
  answer: TeacherAnswer,
  teacher: Teacher,
  rejections: readonly Rejection[],
): ColdStartRow {
  const response = answer.text.trim();
  const parsed = parseAnswer(response);
  return {
    id: record.id,
    image: record.image,
    dataset: record.dataset,
    split: record.split,
    prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
    response,
    score: parsed.score ?? null,
    mos: record.mos,
    level: parsed.reasoning === undefined ? null : (levelStated(parsed.reasoning) ?? null),
    teacher: { name: teacher.name, version: teacher.version, seed: teacher.seed },
    accepted: rejections.length === 0,
    ...(rejections.length === 0 ? {} : { rejectedBecause: [...rejections] }),
  };
}

/** Whether the level stated is the level of the score. False where either is absent. */
export const levelFitsScore = ({ level, score }: Pick<ColdStartRow, 'level' | 'score'>): boolean =>
  level !== null && score !== null && score >= 1 && score <= 5 && levelOfScore(score) === level;
