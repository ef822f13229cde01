import { levelOfScore } from '../../core/index.ts';
import type { ScoreResult } from '../../scoring/index.ts';

/** What became of one picture. */
export interface Row {
  file: string;
  /** Null where the file is no usable image. */
  result: ScoreResult | null;
  problem: string | null;
}

/** Lowest scores first; what has none, or one that is no number, comes last in the order given. */
export function worstFirst(rows: readonly Row[]): Row[] {
  const key = ({ result }: Row): number => {
    const score = result?.score ?? Number.NaN;
    return Number.isNaN(score) ? Number.MAX_VALUE : score;
  };
  return [...rows].sort((a, b) => key(a) - key(b));
}

export const jsonRow = ({ file, result, problem }: Row): object => ({
  file,
  ...(result ?? { status: 'unreadable', score: null, problem }),
});

export function textLines({ file, result, problem }: Row): string[] {
  if (result === null) return [`   -  unreadable  ${file}: ${problem}`];
  if (result.score === null) return [`   -  ${result.status}  ${file}: ${result.text}`];
  const spread = result.std === undefined ? '' : ` +-${result.std.toFixed(2)}`;
  const lines = [`${result.score.toFixed(2)}${spread}  ${result.level}  ${file}`];
  if (result.reasoning !== null) lines.push(`      ${result.reasoning}`);
  if (result.levelStated !== null && result.levelStated !== result.level) lines.push(disagreement(result));
  return lines;
}

/** Why the level in the first line is not that of the reasoning. */
function disagreement({ levelStated, level, scoreWritten }: ScoreResult): string {
  const stated = `      the reasoning says ${levelStated}, the score is ${level}`;
  if (scoreWritten === undefined) return stated;
  return `${stated}; written was ${scoreWritten.toFixed(2)} (${levelOfScore(scoreWritten)}), the score is the mean of what the model holds likely`;
}
