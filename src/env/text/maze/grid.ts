/** Row and column, from the top left corner. */
export type Cell = readonly [row: number, column: number];

/** true is a wall. The outermost rows and columns are walls. */
export type Grid = readonly (readonly boolean[])[];

/** Moves by name, in the order in which AgentGym lists them. */
export const MOVES = { left: [0, -1], right: [0, 1], up: [-1, 0], down: [1, 0] } as const;
export type Move = keyof typeof MOVES;
export const MOVE_NAMES = Object.keys(MOVES) as Move[];

export const isWall = (grid: Grid, [row, column]: Cell): boolean => grid[row]?.[column] ?? true;

/** The cell that a move leads to; the same one where a wall is in the way. */
export function moved(grid: Grid, [row, column]: Cell, move: Move): Cell {
  const [down, right] = MOVES[move];
  const next: Cell = [row + down, column + right];
  return isWall(grid, next) ? [row, column] : next;
}

/** A grid from its picture, "#" for walls. */
export const gridOf = (picture: readonly string[]): Grid =>
  picture.map((line) => [...line].map((character) => character === '#'));

export function openCells(grid: Grid): Cell[] {
  return grid.flatMap((line, row) => line.flatMap((wall, column): Cell[] => (wall ? [] : [[row, column]])));
}

/** The moves of a shortest path, by breadth-first search; null where there is no path. */
export function shortestPath(grid: Grid, from: Cell, to: Cell): Move[] | null {
  const key = ([row, column]: Cell): string => `${row},${column}`;
  const came = new Map<string, { before: Cell; move: Move } | null>([[key(from), null]]);
  const queue: Cell[] = [from];
  for (const cell of queue) {
    if (key(cell) === key(to)) break;
    for (const move of MOVE_NAMES) {
      const next = moved(grid, cell, move);
      if (came.has(key(next))) continue;
      came.set(key(next), { before: cell, move });
      queue.push(next);
    }
  }
  if (!came.has(key(to))) return null;
  const path: Move[] = [];
  for (let step = came.get(key(to)); step; step = came.get(key(step.before))) path.unshift(step.move);
  return path;
}
