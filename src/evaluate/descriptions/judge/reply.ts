/** What a judge is asked about, each on its own. */
export const JUDGE_AXES = ['accuracy', 'completeness', 'reasonableness'] as const;
export type JudgeAxis = (typeof JUDGE_AXES)[number];

export type Grades = Record<JudgeAxis, number>;

export const PAIR_VERDICTS = ['first', 'second', 'tie'] as const;
export type PairVerdict = (typeof PAIR_VERDICTS)[number];
export type Verdicts = Record<JudgeAxis, PairVerdict>;

type Read<T> = { value: Record<JudgeAxis, T> } | { problem: string };

/**
 * The one JSON object with the axes that a reply holds; a reasoning block before it, a code fence or a sentence
 * around it do no harm. Several objects that differ are no answer.
 */
function axesIn(reply: string): { value: Record<JudgeAxis, unknown> } | { problem: string } {
  const answer = reply.replace(/^[\s\S]*<\/think>/, '');
  const found = new Map<string, Record<JudgeAxis, unknown>>();
  for (const [text] of answer.matchAll(/\{[^{}]*\}/g)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (error instanceof SyntaxError) continue;
      throw error;
    }
    const object = value as Record<string, unknown>;
    if (!JUDGE_AXES.some((axis) => axis in object)) continue;
    const axes = Object.fromEntries(JUDGE_AXES.map((axis) => [axis, object[axis]])) as Record<
      JudgeAxis,
      unknown
    >;
    found.set(JSON.stringify(axes), axes);
  }
  const [first] = found.values();
  if (first === undefined) return { problem: 'there is no JSON object with the grades' };
  if (found.size > 1) return { problem: `there are ${found.size} JSON objects with different grades` };
  return { value: first };
}

function readAxes<T>(reply: string, isGood: (value: unknown) => value is T, allowed: string): Read<T> {
  const axes = axesIn(reply);
  if ('problem' in axes) return axes;
  for (const axis of JUDGE_AXES) {
    const value = axes.value[axis];
    if (!isGood(value)) {
      return { problem: `${axis} is ${JSON.stringify(value) ?? 'missing'}, allowed is ${allowed}` };
    }
  }
  return { value: axes.value as Record<JudgeAxis, T> };
}

/** Three whole numbers from 0 to `highest`. Anything else is a problem, never a number. */
export const readGrades = (reply: string, highest: number): Read<number> =>
  readAxes(
    reply,
    (value): value is number =>
      Number.isInteger(value) && (value as number) >= 0 && (value as number) <= highest,
    `a whole number from 0 to ${highest}`,
  );

/** Three verdicts of a comparison. */
export const readVerdicts = (reply: string): Read<PairVerdict> =>
  readAxes(
    reply,
    (value): value is PairVerdict => (PAIR_VERDICTS as readonly unknown[]).includes(value),
    PAIR_VERDICTS.join(', '),
  );
