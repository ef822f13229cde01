import { z } from 'zod';
import { parseAnswer, QUALITY_LEVELS, type QualityLevel } from '../../core/index.ts';
import {
  ALL_DISTORTIONS,
  type DistortionType,
  SEVERITY_LEVELS,
  type SeverityLevel,
} from '../../data/index.ts';

export interface KnownDistortion {
  type: DistortionType;
  level?: SeverityLevel | undefined;
}

/** What somebody said about one picture, and what is known about it. */
export interface Description {
  id: string;
  /** Without the score. Undefined where the answer holds no reasoning. */
  text: string | undefined;
  /** The score that came with the text, on [1, 5]. */
  score: number | null;
  /** A grade that was given apart from the text. */
  grade?: QualityLevel | undefined;
  /** Mean opinion score on [1, 5]. */
  mos?: number | undefined;
  image?: string | undefined;
  /** Undefined: unknown. Empty: pristine. */
  distortions?: readonly KnownDistortion[] | undefined;
}

const levelSchema = z.literal(SEVERITY_LEVELS);
const distortionSchema = z.object({ type: z.enum(ALL_DISTORTIONS), level: levelSchema.optional() });

/** A row of predictions.jsonl, of which this reads what a description needs; `text` is the whole answer. */
const predictionRowSchema = z.object({
  id: z.string().min(1),
  text: z.string(),
  reasoning: z.string().optional(),
  score: z.number().nullable(),
  status: z.string(),
  mos: z.number(),
  image: z.string(),
  distortionsTrue: z.array(distortionSchema).optional(),
});

/** Anybody's descriptions: id and text, and whatever else is known. */
const importedRowSchema = z.object({
  id: z.union([z.string().min(1), z.number().transform(String)]),
  text: z.string(),
  score: z.number().min(1).max(5).nullish(),
  grade: z.enum(QUALITY_LEVELS).nullish(),
  mos: z.number().min(1).max(5).nullish(),
  image: z.string().nullish(),
  distortions: z.array(distortionSchema).nullish(),
});

const turnSchema = z.union([
  z.object({ role: z.string(), content: z.string() }),
  z
    .object({ from: z.string(), value: z.string() })
    .transform(({ from, value }) => ({ role: from, content: value })),
]);

/** ShareGPT and LLaVA conversations: the first answer is the description, a later answer of one word the grade. */
const conversationRowSchema = z.object({
  id: z.union([z.string().min(1), z.number().transform(String)]),
  image: z.string().optional(),
  conversations: z.array(turnSchema).min(2),
});

export const descriptionRowSchema: z.ZodType<Description> = z.union([
  predictionRowSchema.transform(
    ({ id, reasoning, score, mos, image, distortionsTrue }): Description => ({
      id,
      text: reasoning,
      score,
      mos,
      image,
      distortions: distortionsTrue,
    }),
  ),
  importedRowSchema.transform((row): Description => {
    const { text, score } = readText(row.text);
    return {
      id: row.id,
      text,
      score: row.score ?? score,
      grade: row.grade ?? undefined,
      mos: row.mos ?? undefined,
      image: row.image ?? undefined,
      distortions: row.distortions ?? undefined,
    };
  }),
  conversationRowSchema.transform(({ id, image, conversations }): Description => {
    const answers = conversations.filter(({ role }) => ['assistant', 'gpt'].includes(role));
    const { text, score } = readText(answers[0]?.content ?? '');
    return { id, text, score, grade: gradeIn(answers.slice(1).map(({ content }) => content)), image };
  }),
]);

/** Text with the tags of the output contract is read by it; any other text is all description. */
function readText(written: string): Pick<Description, 'text' | 'score'> {
  if (!/<\/?(?:think|answer)>/.test(written)) {
    const text = written.trim();
    return { text: text === '' ? undefined : text, score: null };
  }
  const { status, reasoning, score } = parseAnswer(written);
  return { text: reasoning, score: status === 'ok' && score !== undefined ? score : null };
}

function gradeIn(answers: readonly string[]): QualityLevel | undefined {
  const words = answers.map((answer) => answer.trim().toLowerCase().replace(/\.$/, ''));
  return QUALITY_LEVELS.find((level) => words.includes(level));
}
