import { z } from 'zod';
import { levelOfScore, parseAnswer, QUALITY_LEVELS } from '../core/index.ts';
import { FILTER_REASONS } from './filter-config.ts';
import type { Rejection } from './filters.ts';
import { statedLevel } from './stated-level.ts';
import type { Asked, Teacher, TeacherAnswer, TeacherRequest } from './teacher.ts';

const promptIdentitySchema = z.strictObject({
  id: z.string().min(1),
  version: z.int().positive(),
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal'),
});

/** One line of a distilled data set: what any teacher said about one image, and whether it may be learnt from. */
export const coldStartRowSchema = z.strictObject({
  id: z.string().min(1),
  image: z.string().min(1),
  dataset: z.string().min(1),
  split: z.string().min(1),
  /** The prompt that the row answers, for training. */
  prompt: promptIdentitySchema,
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
  /** How a model was asked, where that differs from `prompt`: the teacher's own prompt and which sample it was. */
  asked: z
    .strictObject({
      prompt: promptIdentitySchema,
      temperature: z.number(),
      topP: z.number().optional(),
      sample: z.int().min(0),
    })
    .optional(),
  accepted: z.boolean(),
  rejectedBecause: z
    .array(z.strictObject({ reason: z.enum(FILTER_REASONS), detail: z.string() }))
    .min(1)
    .optional(),
});
export type ColdStartRow = z.infer<typeof coldStartRowSchema>;

export function coldStartRow(
  { record, prompt, sample }: TeacherRequest,
  answer: TeacherAnswer,
  teacher: Teacher,
  rejections: readonly Rejection[],
): ColdStartRow {
  const response = answer.text.trim();
  const parsed = parseAnswer(response);
  const asked = teacher.asked?.(sample);
  return {
    id: record.id,
    image: record.image,
    dataset: record.dataset,
    split: record.split,
    prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
    response,
    score: parsed.score ?? null,
    mos: record.mos,
    level: parsed.reasoning === undefined ? null : (statedLevel(parsed.reasoning) ?? null),
    teacher: { name: teacher.name, version: teacher.version, seed: teacher.seed },
    ...(asked === undefined ? {} : { asked: askedRow(asked, sample) }),
    accepted: rejections.length === 0,
    ...(rejections.length === 0 ? {} : { rejectedBecause: [...rejections] }),
  };
}

const askedRow = ({ prompt, temperature, topP }: Asked, sample: number): ColdStartRow['asked'] => ({
  prompt,
  temperature,
  ...(topP === undefined ? {} : { topP }),
  sample,
});

/** Whether the level stated is the level of the score. False where either is absent. */
export const levelFitsScore = ({ level, score }: Pick<ColdStartRow, 'level' | 'score'>): boolean =>
  level !== null && score !== null && score >= 1 && score <= 5 && levelOfScore(score) === level;
