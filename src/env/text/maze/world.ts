import type { TextObservation } from '../environment.ts';
import type { World } from '../world.ts';
import { type Cell, isWall, MOVE_NAMES, type Move, moved } from './grid.ts';
import type { Layout } from './layouts.ts';

/** Actions that are carried out; the one after them is answered "Failure". */
export const MOST_STEPS = 50;

/** Neighbours in the order in which walls are named. */
const SIDES: readonly (readonly [string, Cell])[] = [
  ['to your right', [0, 1]],
  ['to your left', [0, -1]],
  ['above you', [-1, 0]],
  ['below you', [1, 0]],
];

/** The goal, the position and the walls around it, in AgentGym's words. */
export function describe({ grid, goal }: Layout, [row, column]: Cell): string {
  const walls = SIDES.flatMap(([name, [down, right]]) =>
    isWall(grid, [row + down, column + right]) ? [name] : [],
  );
  const around =
    walls.length === 0
      ? 'There are no walls near you.'
      : walls.length === 1
        ? `There is a wall ${walls[0]}.`
        : `There are walls ${walls.join(', ')}.`;
  return `The goal is at position ${goal[0]}, ${goal[1]}. Your current position is at position ${row}, ${column}. ${around}`;
}

/** The move that an action asks for: "move left", or "left", which AgentGym's client completes. */
function moveOf(action: string): Move | undefined {
  const name = action
    .trim()
    .toLowerCase()
    .replace(/^move /, '');
  return MOVE_NAMES.find((move) => move === name);
}

/** Maze: reach the goal (reward 1) within 50 steps (after them -1). Any other action leaves everything as it is. */
export class MazeWorld implements World {
  readonly opening: string;
  readonly #layout: Layout;
  #position: Cell;
  #steps = 0;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#position = layout.start;
    this.opening = describe(layout, layout.start);
  }

  act(action: string): TextObservation {
    if (this.#steps >= MOST_STEPS) return { text: 'Failure', reward: -1, done: true };
    const move = moveOf(action);
    if (move !== undefined) this.#position = moved(this.#layout.grid, this.#position, move);
    const [row, column] = this.#layout.goal;
    if (this.#position[0] === row && this.#position[1] === column) {
      return { text: 'Success', reward: 1, done: true };
    }
    this.#steps++;
    return { text: describe(this.#layout, this.#position), reward: 0, done: false };
  }

  availableActions(): string[] {
    return MOVE_NAMES.map((move) => `move ${move}`);
  }
}
