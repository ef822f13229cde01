import { nameOfValue } from './scores.ts';

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/**
 * The grades in a judge's reply, in the order of `fields`: whole numbers from 0 to `highest` in the one JSON object
 * that holds them. A reasoning block before it, a code fence or a sentence around it do no harm; several objects that
 * differ are no answer. Anything else is a problem, never a number.
 */
export function readGrades(
  reply: string,
  fields: readonly string[],
  highest: number,
): { values: number[] } | { problem: string } {
  const answer = reply.replace(/^[\s\S]*<\/think>/, '');
  const found = new Map<string, unknown[]>();
  for (const [text] of answer.matchAll(/\{[^{}]*\}/g)) {
    const object = objectIn(text);
    if (object === undefined || !fields.some((field) => Object.hasOwn(object, field))) continue;
    const values = fields.map((field) => (Object.hasOwn(object, field) ? object[field] : undefined));
    found.set(JSON.stringify(values), values);
  }
  const [values] = found.values();
  if (values === undefined) return { problem: `there is no JSON object with ${fields.join(', ')}` };
  if (found.size > 1) return { problem: `there are ${found.size} JSON objects with different grades` };
  const grades: number[] = [];
  for (const [at, value] of values.entries()) {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > highest) {
      return {
        problem: `${fields[at]} is ${nameOfValue(value)}, allowed is a whole number from 0 to ${highest}`,
      };
    }
    grades.push(value);
  }
  return { values: grades };
}
