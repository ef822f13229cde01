import { InputError } from './errors.ts';

/**
 * The output contract of every policy and teacher: `<think>reasoning</think><answer>3.42</answer>`, the score
 * in [1, 5] with two decimals. Reading is lenient about how the score is written and never guesses; the format
 * check is strict.
 */

export const SCORE_MIN = 1;
export const SCORE_MAX = 5;

/** The score that is most wrong for a target: the far end of the scale. The harsh reading of a missing answer. */
export const worstScore = (mos: number): number =>
  mos > (SCORE_MIN + SCORE_MAX) / 2 ? SCORE_MIN : SCORE_MAX;

export type AnswerStatus = 'ok' | 'unparsable' | 'out-of-range';

export interface ParsedAnswer {
  status: AnswerStatus;
  /** As written. Present for 'ok' and 'out-of-range'. */
  score?: number;
  /** Content of the first closed think block, trimmed. Absent when there is none or it is blank. */
  reasoning?: string;
  /** The whole output is exactly the contract. What the format reward pays for. */
  wellFormed: boolean;
  /** The first thing that is wrong. Absent when well formed. */
  problem?: string;
}

const TAG = /<\/?(?:think|answer)>/;
const CONTRACT = /^<think>([\s\S]*?)<\/think>\s*<answer>([\s\S]*?)<\/answer>$/;
const STRICT_SCORE = /^(?:[1-4]\.\d\d|5\.00)$/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * Whether the whole text is one think block and one answer block, white space between them allowed, no tag
 * nested, both non-blank. Says nothing about the answer's content.
 */
export function hasContractTags(text: string): boolean {
  const parts = CONTRACT.exec(text)?.slice(1) ?? [];
  return parts.length === 2 && parts.every((part) => part.trim() !== '' && !TAG.test(part));
}

/** What stands in the first closed think block. Searched, not matched: a pattern would take quadratic time on many opening tags. */
function firstThought(text: string): string | undefined {
  const start = text.indexOf('<think>');
  const end = start < 0 ? -1 : text.indexOf('</think>', start);
  return end < 0 ? undefined : text.slice(start + '<think>'.length, end);
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : undefined;
}

/** A bare number, a quoted number, or a JSON object with a `rating`. Anything else is not a score. */
function readScore(content: string): number | undefined {
  const bare = numberIn(content);
  if (bare !== undefined) return bare;
  try {
    const value: unknown = JSON.parse(content);
    return numberIn(typeof value === 'object' && value !== null && 'rating' in value ? value.rating : value);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const excerpt = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

function lastAnswer(text: string): { content: string } | { problem: string } {
  const start = text.lastIndexOf('<answer>');
  if (start < 0) return { problem: 'there is no <answer> block' };
  const end = text.indexOf('</answer>', start);
  if (end < 0) return { problem: 'the last <answer> block is not closed' };
  return { content: text.slice(start + '<answer>'.length, end).trim() };
}

/** Reads an output. Never throws: whatever a model wrote has an answer here. */
export function parseAnswer(text: string): ParsedAnswer {
  const thought = firstThought(text)?.trim();
  const reasoning = thought ? { reasoning: thought } : {};
  const answer = lastAnswer(text);
  if ('problem' in answer) {
    return { status: 'unparsable', wellFormed: false, problem: answer.problem, ...reasoning };
  }
  const score = readScore(answer.content);
  if (score === undefined) {
    const problem = `the answer "${excerpt(answer.content)}" is not a number`;
    return { status: 'unparsable', wellFormed: false, problem, ...reasoning };
  }
  if (!(score >= SCORE_MIN && score <= SCORE_MAX)) {
    const problem = `the score ${score} is outside ${SCORE_MIN} to ${SCORE_MAX}`;
    return { status: 'out-of-range', score, wellFormed: false, problem, ...reasoning };
  }
  if (!hasContractTags(text)) {
    const problem = 'the output is not one <think> block followed by one <answer> block';
    return { status: 'ok', score, wellFormed: false, problem, ...reasoning };
  }
  const written = CONTRACT.exec(text)?.[2] ?? '';
  if (!STRICT_SCORE.test(written)) {
    const problem = `the answer "${excerpt(written)}" is not a bare number with two decimals`;
    return { status: 'ok', score, wellFormed: false, problem, ...reasoning };
  }
  return { status: 'ok', score, wellFormed: true, ...reasoning };
}

/** Writes an output by the contract. A blank or tagged reasoning or a score outside [1, 5] is an InputError. */
export function formatAnswer(reasoning: string, score: number): string {
  if (!(score >= SCORE_MIN && score <= SCORE_MAX)) {
    throw new InputError(`formatAnswer: got the score ${score}, allowed is ${SCORE_MIN} to ${SCORE_MAX}`);
  }
  const trimmed = reasoning.trim();
  if (trimmed === '' || TAG.test(trimmed)) {
    throw new InputError('formatAnswer: the reasoning is blank or holds a think or answer tag', {
      hint: 'pass the reasoning alone, without tags',
    });
  }
  return `<think>${trimmed}</think><answer>${score.toFixed(2)}</answer>`;
}
