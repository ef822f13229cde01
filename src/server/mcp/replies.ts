import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { asStorageError, QPonderError, QUALITY_LEVELS } from '../../core/index.ts';
import { DISTORTION_WORDS, SEVERITY_WORDS } from '../../data/index.ts';
import { type Comparison, SCORING_MODES, type Score, type ScoreInterval } from '../../scoring/index.ts';

const intervalSchema = z
  .object({ low: z.number(), high: z.number(), level: z.number() })
  .describe('What the model holds likely; it is about its doubt, not about its errors');

/** What score_image answers. */
export const scoreShape = {
  status: z
    .enum(['ok', 'unparsable', 'out-of-range', 'truncated'])
    .describe('ok: there is a score. Otherwise the model wrote none that can be read'),
  score: z.number().min(1).max(5).nullable().describe('1 (bad) to 5 (excellent); null without a score'),
  level: z.enum(QUALITY_LEVELS).nullable(),
  interval: intervalSchema.optional(),
  std: z.number().optional().describe('Standard deviation of what the score is the mean of'),
  reasoning: z.string().nullable(),
  distortions: z.array(
    z.object({ type: z.string(), level: z.int().min(1).max(5).optional().describe('1 slight to 5 severe') }),
  ),
  text: z.string().describe('The whole answer of the model'),
  mode: z.enum(SCORING_MODES),
  modelSha256: z.string().nullable(),
  promptHash: z.string(),
};
const scoreSchema = z.object(scoreShape);

/** What compare_images answers. */
export const comparisonShape = {
  better: z.enum(['a', 'b', 'tie']).nullable().describe('null where one of them has no score'),
  difference: z.number().nullable().describe('Score of a minus score of b'),
  interval: intervalSchema.optional(),
  probability: z
    .number()
    .nullable()
    .describe('How sure the model is that a is better; 0.5 is undecided. Not measured against people'),
  a: scoreSchema,
  b: scoreSchema,
};

type Structured = NonNullable<CallToolResult['structuredContent']>;

const reply = (text: string, structuredContent: object): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: structuredContent as Structured,
});

export const scoreReply = (score: Score): CallToolResult => reply(scoreText(score), scoreSchema.parse(score));

export const comparisonReply = (comparison: Comparison): CallToolResult =>
  reply(comparisonText(comparison), z.object(comparisonShape).parse(comparison));

const range = ({ low, high, level }: ScoreInterval): string =>
  `${Math.round(level * 100)} % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;

const NO_SCORE: Record<Exclude<Score['status'], 'ok'>, string> = {
  unparsable: 'the answer of the model holds no score that can be read',
  'out-of-range': 'the model wrote a score outside 1 to 5, which does not count',
  truncated: 'the answer of the model was cut off before a score',
};

function scoreText({ status, score, level, interval, reasoning, distortions }: Score): string {
  const head =
    status === 'ok'
      ? `Quality ${score!.toFixed(2)} of 5 (${level})${interval === undefined ? '' : `, ${range(interval)}`}.`
      : `No score: ${NO_SCORE[status]}.`;
  const named = distortions.map(({ type, level: severity }) => {
    const [name] = DISTORTION_WORDS[type].phrases;
    return severity === undefined ? name : `${name} (${SEVERITY_WORDS[severity]}, ${severity} of 5)`;
  });
  return [
    head,
    ...(named.length > 0 ? [`Distortions named: ${named.join(', ')}.`] : []),
    ...(reasoning === null ? [] : [`Reasoning: ${reasoning}`]),
  ].join('\n');
}

function comparisonText({ better, difference, interval, probability, a, b }: Comparison): string {
  const sure =
    probability === null ? '' : ` The model holds a better with probability ${probability.toFixed(2)}.`;
  const by = (size: number): string =>
    `${Math.abs(size).toFixed(2)}${interval === undefined ? '' : ` (a minus b: ${range(interval)})`}`;
  const head =
    better === null
      ? 'No comparison: one of the images has no score.'
      : better === 'tie'
        ? `Both images score alike.${sure}`
        : `Image ${better} scores higher by ${by(difference!)}.${sure}`;
  return `${head}\n\nImage a\n${scoreText(a)}\n\nImage b\n${scoreText(b)}`;
}

/** Where a reply carries the typed error: `{ code, message, hint }`. */
export const ERROR_META = 'q-ponder/error';

/**
 * A failure as a tool error, which the assistant reads and can mend. Of a defect of ours it learns only that there
 * was one; `report` gets the rest.
 */
export function errorReply(thrown: unknown, report: (error: unknown) => void): CallToolResult {
  const error = asStorageError(thrown, 'reading or writing');
  const known = error instanceof QPonderError;
  if (!known) report(error);
  const code = known ? error.code : 'INTERNAL';
  const message = known ? error.message : 'the server failed to carry this out';
  const hint = known ? error.hint : 'try again; the server’s log holds the cause';
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}` }],
    _meta: { [ERROR_META]: { code, message, ...(hint === undefined ? {} : { hint }) } },
  };
}
