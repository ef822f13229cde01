import type { Grid, LowAction } from './grid.ts';
import { type SeenCell, VIEW } from './view.ts';

const HALF = (VIEW - 1) / 2;
const STATES = VIEW * VIEW * 4;
/** Quarter turns to the right of the agent's direction: steps ahead and to the right that lead there. */
const STEPS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

/** Steps ahead and to the right of the agent. */
type Offset = Pick<SeenCell, 'front' | 'right'>;

const stateOf = (front: number, right: number, turn: number): number =>
  (front * VIEW + right + HALF) * 4 + turn;

/** Shortest ways within the view, cells that are not seen taken as free: one may prove to be blocked on the way. */
export class ViewPaths {
  readonly #order = new Int16Array(STATES).fill(-1);
  readonly #before = new Int16Array(STATES).fill(-1);
  readonly #by: LowAction[] = [];

  constructor(grid: Grid, seen: readonly SeenCell[]) {
    const blocked = new Uint8Array(VIEW * VIEW);
    for (const { front, right, content } of seen) {
      if (!grid.passable(content)) blocked[front * VIEW + right + HALF] = 1;
    }
    const start = stateOf(0, 0, 0);
    const queue = [start];
    this.#order[start] = 0;
    let visited = 1;
    const visit = (state: number, before: number, by: LowAction): void => {
      if (this.#order[state] !== -1) return;
      this.#order[state] = visited++;
      this.#before[state] = before;
      this.#by[state] = by;
      queue.push(state);
    };
    for (const state of queue) {
      const turn = state & 3;
      const cell = state >> 2;
      const [dFront, dRight] = STEPS[turn] as (typeof STEPS)[number];
      const front = Math.floor(cell / VIEW) + dFront;
      const right = (cell % VIEW) - HALF + dRight;
      const inside = front >= 0 && front < VIEW && Math.abs(right) <= HALF;
      if (inside && blocked[front * VIEW + right + HALF] === 0) {
        visit(stateOf(front, right, turn), state, 'forward');
      }
      visit(cell * 4 + ((turn + 3) & 3), state, 'left');
      visit(cell * 4 + ((turn + 1) & 3), state, 'right');
    }
  }

  /** Actions after which the agent faces a cell; null where no way leads there. */
  toFace({ front, right }: Offset): LowAction[] | null {
    return this.#to(
      STEPS.flatMap(([dFront, dRight], turn) => {
        const [f, r] = [front - dFront, right - dRight];
        return f >= 0 && f < VIEW && Math.abs(r) <= HALF ? [stateOf(f, r, turn)] : [];
      }),
    );
  }

  /** Actions after which the agent stands in a cell; null where no way leads there. */
  toStandIn({ front, right }: Offset): LowAction[] | null {
    return this.#to(STEPS.map((_, turn) => stateOf(front, right, turn)));
  }

  /** To the state that the search came to first. */
  #to(states: readonly number[]): LowAction[] | null {
    let first = -1;
    for (const state of states) {
      const order = this.#order[state] as number;
      if (order >= 0 && (first < 0 || order < (this.#order[first] as number))) first = state;
    }
    if (first < 0) return null;
    const actions: LowAction[] = [];
    for (let state = first; this.#before[state] !== -1; state = this.#before[state] as number) {
      actions.push(this.#by[state] as LowAction);
    }
    return actions.reverse();
  }
}
