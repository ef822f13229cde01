import { writeToString } from 'fast-csv';
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

/** Distortions as people read them: "jpeg 3, gaussianBlur"; 1 is slight, 5 is severe. */
const distortionNames = ({ distortions }: ScoreResult): string =>
  distortions.map(({ type, level }) => (level === undefined ? type : `${type} ${level}`)).join(', ');

const CSV_COLUMNS = [
  'file',
  'status',
  'score',
  'low',
  'high',
  'level',
  'distortions',
  'reasoning',
  'problem',
] as const;

/** Lines of a table, on request below its header; an empty cell is a value that is not there. */
export function csvLines(rows: readonly Row[], headers: boolean): Promise<string> {
  const table = rows.map(({ file, result, problem }) => ({
    file,
    status: result?.status ?? 'unreadable',
    score: result?.score ?? '',
    low: result?.interval?.low ?? '',
    high: result?.interval?.high ?? '',
    level: result?.level ?? '',
    distortions: result === null ? '' : distortionNames(result),
    reasoning: result?.reasoning ?? '',
    problem: problem ?? '',
  }));
  return writeToString(table, { headers: [...CSV_COLUMNS], writeHeaders: headers });
}

/** The rows as a table for people, with the reasoning below each. */
export function tableLines(rows: readonly Row[]): string[] {
  const scored = rows.flatMap(({ result }) => (result?.score == null ? [] : [result]));
  const widest = (cell: (result: ScoreResult) => string): number =>
    Math.max(0, ...scored.map((result) => cell(result).length));
  const widths = { score: widest(scoreAndSpread), level: widest(({ level }) => level ?? '') };
  return rows.flatMap((row) => textLines(row, widths));
}

const scoreAndSpread = ({ score, std }: ScoreResult): string =>
  `${score!.toFixed(2)}${std === undefined ? '' : ` +-${std.toFixed(2)}`}`;

export function textLines(
  { file, result, problem }: Row,
  widths: { score: number; level: number } = { score: 0, level: 0 },
): string[] {
  if (result === null) {
    // Most problems begin with the name of the file themselves.
    const told = problem?.startsWith(file) ? problem : `${file}: ${problem}`;
    return [`   -  unreadable  ${told}`];
  }
  if (result.score === null) return [`   -  ${result.status}  ${file}: ${result.text}`];
  const level = (result.level ?? '').padEnd(widths.level);
  const lines = [`${scoreAndSpread(result).padEnd(widths.score)}  ${level}  ${file}`];
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
