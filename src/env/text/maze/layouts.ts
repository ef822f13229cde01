import type { Rng } from '../../../core/index.ts';
import { type Cell, type Grid, gridOf, MOVE_NAMES, MOVES, openCells } from './grid.ts';

export interface Layout {
  grid: Grid;
  start: Cell;
  goal: Cell;
}

/** The maze of AgentGym's MAZE: LMRL-Gym's double T. Its goal is at the foot. */
const DOUBLE_T: Grid = gridOf([
  '#############',
  '#.....#.....#',
  '###.#####.###',
  '###.#####.###',
  '###.#####.###',
  '###.......###',
  '######.######',
  '######.######',
  '######.######',
  '#############',
]);
const DOUBLE_T_GOAL: Cell = [8, 6];

/** Starts by the index of the game, as AgentGym numbers them: the upper bars, down the left arm, then the right one. */
const DOUBLE_T_STARTS: readonly Cell[] = [
  ...[1, 2, 3, 4, 5, 7, 8, 9, 10, 11].map((column): Cell => [1, column]),
  ...[2, 3, 4].map((row): Cell => [row, 3]),
  ...[3, 4, 5, 6].map((column): Cell => [5, column]),
  ...[6, 7].map((row): Cell => [row, 6]),
  ...[7, 8, 9].map((column): Cell => [5, column]),
  ...[4, 3, 2].map((row): Cell => [row, 9]),
];

export const DOUBLE_T_LAYOUTS: readonly Layout[] = DOUBLE_T_STARTS.map((start) => ({
  grid: DOUBLE_T,
  start,
  goal: DOUBLE_T_GOAL,
}));

/** Walls between two corridors that are opened besides the tree, as a share of those that could be. */
const LOOPS = 0.1;

/**
 * A random maze of size x size, walls included, size odd and at least 5: a depth-first spanning tree over the odd
 * cells, then some more openings, so that there are several ways. Start and goal are two different open cells.
 */
export function randomLayout(size: number, rng: Rng): Layout {
  const walls = Array.from({ length: size }, () => Array.from({ length: size }, () => true));
  const open = (row: number, column: number): void => {
    (walls[row] as boolean[])[column] = false;
  };
  const isOpen = (row: number, column: number): boolean => walls[row]?.[column] === false;
  const inside = (value: number): boolean => value > 0 && value < size - 1;
  const stack: Cell[] = [[1, 1]];
  open(1, 1);
  for (let cell = stack.at(-1); cell !== undefined; cell = stack.at(-1)) {
    const [row, column] = cell;
    const next = rng.shuffle(MOVE_NAMES.map((name) => MOVES[name])).find(([down, right]) => {
      const [r, c] = [row + 2 * down, column + 2 * right];
      return inside(r) && inside(c) && !isOpen(r, c);
    });
    if (next === undefined) {
      stack.pop();
      continue;
    }
    open(row + next[0], column + next[1]);
    open(row + 2 * next[0], column + 2 * next[1]);
    stack.push([row + 2 * next[0], column + 2 * next[1]]);
  }
  for (let row = 1; row < size - 1; row++) {
    for (let column = 1; column < size - 1; column++) {
      const between = (row % 2 === 1) !== (column % 2 === 1);
      if (between && !isOpen(row, column) && rng.uniform() < LOOPS) open(row, column);
    }
  }
  const [start, goal] = rng.shuffle(openCells(walls)) as [Cell, Cell];
  return { grid: walls, start, goal };
}
