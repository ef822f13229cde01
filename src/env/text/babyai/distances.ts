import { DIRECTIONS, EMPTY, type Grid, turned } from './grid.ts';

/** Rough costs, in steps, of what has to be done on the way. */
const BLOCKED_COST = 10;
export const LOCKED_COST = 100;

/** A place and direction of the agent. */
export interface Pose {
  x: number;
  y: number;
  direction: number;
}

const stateOf = (grid: Grid, { x, y, direction }: Pose): number => (y * grid.width + x) * 4 + direction;

/** Whether a key for a door is in the hand, somewhere on the grid or in a box. */
function keyExists(grid: Grid, door: number): boolean {
  const { colour } = grid.thing(door);
  return [...grid.cells].some((id) => {
    if (id <= 0) return false;
    const held = grid.things[grid.thing(id).holds ?? 0];
    return [grid.thing(id), held].some((thing) => thing?.kind === 'key' && thing.colour === colour);
  });
}

/** Steps to come into a cell, what stands in the way included; infinite for walls. */
function enterCost(grid: Grid, content: number): number {
  if (content === EMPTY) return 1;
  if (content < 0) return Number.POSITIVE_INFINITY;
  switch (grid.doors.get(content)) {
    case 'open':
      return 1;
    case 'closed':
      return 2;
    case 'locked':
      if (grid.fits(content)) return 2;
      return keyExists(grid, content) ? LOCKED_COST : Number.POSITIVE_INFINITY;
    default:
      return BLOCKED_COST;
  }
}

/** Steps from every pose to facing one of some cells, with full knowledge of the grid. */
export class Distances {
  readonly #grid: Grid;
  readonly #costs: Float64Array;
  readonly #steps: Float64Array;

  /** Dijkstra's algorithm backwards from the goals, with a bucket for each distance. */
  constructor(grid: Grid, goals: readonly (readonly [x: number, y: number])[]) {
    this.#grid = grid;
    const size = grid.width * grid.height;
    this.#costs = Float64Array.from(grid.cells, (content) => enterCost(grid, content));
    this.#steps = new Float64Array(size * 4).fill(Number.POSITIVE_INFINITY);
    const buckets: number[][] = [];
    const reach = (state: number, steps: number): void => {
      if (steps >= (this.#steps[state] as number)) return;
      this.#steps[state] = steps;
      buckets[steps] ??= [];
      buckets[steps].push(state);
    };
    for (const [x, y] of goals) {
      for (const [direction, [dx, dy]] of DIRECTIONS.entries()) {
        if (grid.at(x - dx, y - dy) === -1) continue;
        reach(stateOf(grid, { x: x - dx, y: y - dy, direction }), 0);
      }
    }
    for (let steps = 0; steps < buckets.length; steps++) {
      for (const state of buckets[steps] ?? []) {
        if (this.#steps[state] !== steps) continue;
        const direction = state & 3;
        const cell = state >> 2;
        reach(cell * 4 + turned(direction, 1), steps + 1);
        reach(cell * 4 + turned(direction, -1), steps + 1);
        const [dx, dy] = DIRECTIONS[direction] as (typeof DIRECTIONS)[number];
        const cost = this.#costs[cell] as number;
        const before = cell - dx - dy * grid.width;
        if (cost === Number.POSITIVE_INFINITY || grid.cells[before] === -1) continue;
        reach(before * 4 + direction, steps + cost);
      }
    }
  }

  from(pose: Pose): number {
    return this.#steps[stateOf(this.#grid, pose)] as number;
  }

  /** The next pose of a shortest way. */
  next(pose: Pose): Pose {
    const steps = this.from(pose);
    const [dx, dy] = DIRECTIONS[pose.direction] as (typeof DIRECTIONS)[number];
    const ahead = { ...pose, x: pose.x + dx, y: pose.y + dy };
    const cost = this.#costs[ahead.y * this.#grid.width + ahead.x] as number;
    if (cost !== Number.POSITIVE_INFINITY && this.from(ahead) + cost === steps) return ahead;
    const right = { ...pose, direction: turned(pose.direction, 1) };
    return this.from(right) + 1 === steps ? right : { ...pose, direction: turned(pose.direction, -1) };
  }
}
