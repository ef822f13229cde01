import { type Completion, levelOfScore, parseAnswer } from '../core/index.ts';
import { distortionsNamed, levelStated } from '../data/index.ts';
import type { ScoreResult } from './result.ts';

/** Reads a completion by the output contract. Nothing is guessed: without a score there is none. */
export function readCompletion({ text, finishReason }: Completion): ScoreResult {
  const answer = parseAnswer(text);
  const ok = answer.status === 'ok' && answer.score !== undefined;
  const score = ok ? answer.score! : null;
  const unreadable = answer.status === 'ok' ? 'unparsable' : answer.status;
  const status = ok
    ? 'ok'
    : finishReason === 'length' && unreadable === 'unparsable'
      ? 'truncated'
      : unreadable;
  const reasoning = answer.reasoning ?? null;
  return {
    status,
    score,
    level: score === null ? null : levelOfScore(score),
    reasoning,
    levelStated: reasoning === null ? null : (levelStated(reasoning) ?? null),
    distortions: reasoning === null ? [] : distortionsNamed(reasoning),
    wellFormed: answer.wellFormed,
    text,
    finishReason,
  };
}
