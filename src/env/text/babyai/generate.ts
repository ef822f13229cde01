import { Rng } from '../../../core/index.ts';
import type { Level } from './episode.ts';
import { type ExpertAction, solve } from './expert.ts';
import { EMPTY } from './grid.ts';
import { CARRYING_LEVELS, type LevelKind } from './levels.ts';
import {
  anyNextTo,
  type Clause,
  clausesOf,
  type Description,
  type Mission,
  meant,
  type Target,
} from './mission.ts';
import { Rejected, RoomBuilder } from './rooms.ts';

/** A level, the expert's solution, and how many draws were no level. */
export interface Drawn {
  level: Level;
  solution: readonly ExpertAction[];
  rejected: number;
}

const MOST_DRAWS = 10_000;

/** BabyAI's allowance: a walk through every cell for each clause, and two for what has to be carried. */
function mostSteps(kind: LevelKind, mission: Mission): number {
  const { size, rows, columns } = kind.rooms;
  const walks = clausesOf(mission).reduce((sum, { verb }) => sum + (verb === 'put' ? 2 : 1), 0);
  return walks * size * size * rows * columns;
}

function withTargets(mission: Mission<Description>, resolve: (what: Description) => Target): Mission {
  const clause = (one: Clause<Description>): Clause =>
    one.verb === 'put'
      ? { verb: 'put', what: resolve(one.what), next: resolve(one.next) }
      : { ...one, what: resolve(one.what) };
  if (mission.verb === 'and')
    return { verb: 'and', both: [clause(mission.both[0]), clause(mission.both[1])] };
  if (mission.verb !== 'then') return clause(mission);
  const { first, second, words } = mission;
  return { verb: 'then', first: withTargets(first, resolve), second: withTargets(second, resolve), words };
}

/** Throws Rejected for what is fulfilled already or is about one thing twice. */
function checkClause(clause: Clause, { grid }: Level): void {
  if (clause.verb !== 'put') return;
  const { what, next } = clause;
  if (what.ids.some((id) => next.ids.includes(id))) throw new Rejected('a thing beside itself');
  if (anyNextTo(grid, what.ids, next.ids)) throw new Rejected('it is there already');
}

/** A level of a kind from a random source. Throws Rejected where the draw is none. */
function draw(kind: LevelKind, rng: Rng): Level {
  const rooms = new RoomBuilder(kind.rooms, rng);
  const described = kind.draw(rooms);
  const { grid } = rooms;
  const agentRoom = rooms.agentRoom();
  const mission = withTargets(described, (what) => {
    const ids = meant(what, grid, (x, y) => rooms.inside(agentRoom, x, y));
    if (ids.length === 0) throw new Rejected('nothing is meant');
    return { ...what, ids };
  });
  const level = { grid, mission, mostSteps: mostSteps(kind, mission) };
  for (const clause of clausesOf(mission)) checkClause(clause, level);
  if (CARRYING_LEVELS.has(kind.name)) {
    const [first] = clausesOf(mission) as [Clause];
    const id = first.what.ids[0] as number;
    grid.set(...(grid.place(id) as [number, number]), EMPTY);
    grid.carrying = id;
  }
  return level;
}

/**
 * The level of a kind for a seed. A draw that the expert does not solve within the steps is drawn again, so that every
 * level has a solution.
 */
export function generateLevel(kind: LevelKind, seed: string): Drawn {
  for (let i = 0; i < MOST_DRAWS; i++) {
    try {
      const level = draw(kind, new Rng('babyai').fork(kind.name, seed, i));
      const solution = solve(level);
      if (solution !== null && solution.length > 0) return { level, solution, rejected: i };
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
    }
  }
  throw new Error(`no level ${kind.name} in ${MOST_DRAWS} draws of seed ${seed}`);
}
