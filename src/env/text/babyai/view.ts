import { DIRECTIONS, EMPTY, type Grid, turned } from './grid.ts';

/** Side of the square that the agent sees: itself in the middle of the nearest row. */
export const VIEW = 7;
const HALF = (VIEW - 1) / 2;

/** A cell as the agent sees it. */
export interface SeenCell {
  /** Steps ahead, 0 to 6. */
  front: number;
  /** Steps to the right, -3 to 3. */
  right: number;
  x: number;
  y: number;
  content: number;
}

/**
 * The cells in view that nothing hides, from the farthest row to the nearest and from left to right, without the
 * agent's own. MiniGrid's rule: sight spreads row by row from the agent, sideways in both directions and to the three
 * cells ahead; walls and doors that are not open are seen, but not what is behind them.
 */
export function seenCells(grid: Grid): SeenCell[] {
  const [fx, fy] = DIRECTIONS[grid.direction] as (typeof DIRECTIONS)[number];
  const [rx, ry] = DIRECTIONS[turned(grid.direction, 1)] as (typeof DIRECTIONS)[number];
  const cellAt = (front: number, right: number): SeenCell => {
    const x = grid.x + front * fx + right * rx;
    const y = grid.y + front * fy + right * ry;
    return { front, right, x, y, content: grid.at(x, y) };
  };
  const rows = Array.from({ length: VIEW }, (_, front) =>
    Array.from({ length: VIEW }, (_, column) => cellAt(front, column - HALF)),
  );
  const seen = Array.from({ length: VIEW }, () => new Array<boolean>(VIEW).fill(false));
  const spread = (front: number, column: number, side: number): void => {
    const row = seen[front] as boolean[];
    const { content } = (rows[front] as SeenCell[])[column] as SeenCell;
    const hides = content !== EMPTY && (content < 0 || (grid.doors.get(content) ?? 'open') !== 'open');
    if (!row[column] || hides) return;
    row[column + side] = true;
    const next = seen[front + 1];
    if (next === undefined) return;
    next[column] = true;
    next[column + side] = true;
  };
  (seen[0] as boolean[])[HALF] = true;
  for (let front = 0; front < VIEW; front++) {
    for (let column = 0; column < VIEW - 1; column++) spread(front, column, 1);
    for (let column = VIEW - 1; column > 0; column--) spread(front, column, -1);
  }
  return rows
    .flatMap((row, front) => row.filter((_, column) => seen[front]?.[column]))
    .filter(({ front, right }) => front !== 0 || right !== 0)
    .sort((a, b) => b.front - a.front || a.right - b.right);
}
