import { type Colour, DIRECTIONS, type Grid, type Kind, type LowAction, turned } from './grid.ts';

/** Places are relative to where the agent is at the beginning, and in its room. */
export const PLACES = ['left', 'right', 'front', 'behind'] as const;
export type Place = (typeof PLACES)[number];

/** Things in words: "a red ball", "the door on your left". */
export interface Description {
  kind: Kind | null;
  colour: Colour | null;
  place?: Place | null;
}

/** A description and the ids of the things that it meant at the beginning. */
export interface Target extends Description {
  ids: readonly number[];
}

/** A single instruction. A strict one fails at the first wrong object or door. */
export type Clause<T = Target> =
  | { verb: 'go to' | 'pick up' | 'open'; what: T; strict?: boolean }
  | { verb: 'put'; what: T; next: T };

/** The baby language: a clause, two in any order, or one (of clauses or pairs) before another. */
export type Mission<T = Target> =
  | Clause<T>
  | { verb: 'and'; both: readonly [Clause<T>, Clause<T>] }
  | { verb: 'then'; first: Mission<T>; second: Mission<T>; words: 'then' | 'after you' };

/** Whether a place, in steps ahead and to the right, is where a word says. */
function isAt(place: Place, front: number, right: number): boolean {
  return { left: right < 0, right: right > 0, front: front > 0, behind: front < 0 }[place];
}

/** The ids that a description means. `inRoom` says whether a cell is in the agent's room, its walls included. */
export function meant(
  { kind, colour, place }: Description,
  grid: Grid,
  inRoom: (x: number, y: number) => boolean,
): number[] {
  const [fx, fy] = DIRECTIONS[grid.direction] as (typeof DIRECTIONS)[number];
  const [rx, ry] = DIRECTIONS[turned(grid.direction, 1)] as (typeof DIRECTIONS)[number];
  const ids: number[] = [];
  for (const [index, id] of grid.cells.entries()) {
    if (id <= 0) continue;
    const thing = grid.thing(id);
    if ((kind !== null && thing.kind !== kind) || (colour !== null && thing.colour !== colour)) continue;
    if (place) {
      const x = index % grid.width;
      const y = Math.floor(index / grid.width);
      const [dx, dy] = [x - grid.x, y - grid.y];
      if (!inRoom(x, y) || !isAt(place, dx * fx + dy * fy, dx * rx + dy * ry)) continue;
    }
    ids.push(id);
  }
  return ids;
}

const PLACE_WORDS: Record<Place, string> = {
  left: ' on your left',
  right: ' on your right',
  front: ' in front of you',
  behind: ' behind you',
};

export function targetText({ kind, colour, place, ids }: Target): string {
  const name = `${colour === null ? '' : `${colour} `}${kind ?? 'object'}${place ? PLACE_WORDS[place] : ''}`;
  return `${ids.length > 1 ? 'a' : 'the'} ${name}`;
}

export function missionText(mission: Mission): string {
  switch (mission.verb) {
    case 'and':
      return mission.both.map(missionText).join(' and ');
    case 'then': {
      const [first, second] = [missionText(mission.first), missionText(mission.second)];
      return mission.words === 'then' ? `${first}, then ${second}` : `${second} after you ${first}`;
    }
    case 'put':
      return `put ${targetText(mission.what)} next to ${targetText(mission.next)}`;
    default:
      return `${mission.verb} ${targetText(mission.what)}`;
  }
}

/** Clauses in the order in which they can be done. */
export function clausesOf<T>(mission: Mission<T>): Clause<T>[] {
  if (mission.verb === 'and') return [...mission.both];
  if (mission.verb === 'then') return [...clausesOf(mission.first), ...clausesOf(mission.second)];
  return [mission];
}

export type Verdict = 'success' | 'failure' | 'continue';

/** An action that was carried out, and the grid after it. */
export interface Happened {
  grid: Grid;
  action: LowAction;
  carriedBefore: number;
}

const nextTo = ([ax, ay]: readonly [number, number], [bx, by]: readonly [number, number]): boolean =>
  Math.abs(ax - bx) + Math.abs(ay - by) === 1;

/** Whether any of the one things stands beside any of the others. */
export function anyNextTo(grid: Grid, ones: readonly number[], others: readonly number[]): boolean {
  return ones.some((one) => {
    const at = grid.place(one);
    if (at === undefined) return false;
    return others.some((other) => {
      const place = grid.place(other);
      return place !== undefined && nextTo(at, place);
    });
  });
}

/** What an action means for a clause: BabyAI's verifier. */
function verifyClause(clause: Clause, { grid, action, carriedBefore }: Happened): Verdict {
  const ahead = grid.ahead();
  switch (clause.verb) {
    case 'go to':
      return clause.what.ids.includes(ahead) ? 'success' : 'continue';
    case 'open':
      if (action !== 'toggle') return 'continue';
      if (clause.what.ids.includes(ahead) && grid.doors.get(ahead) === 'open') return 'success';
      return clause.strict && grid.doors.has(ahead) ? 'failure' : 'continue';
    case 'pick up':
      if (action !== 'pickup' || grid.carrying === 0) return 'continue';
      if (carriedBefore === 0 && clause.what.ids.includes(grid.carrying)) return 'success';
      return clause.strict ? 'failure' : 'continue';
    case 'put':
      if (action !== 'drop' || grid.carrying !== 0 || !clause.what.ids.includes(carriedBefore))
        return 'continue';
      return anyNextTo(grid, [carriedBefore], clause.next.ids) ? 'success' : 'continue';
  }
}

/** Follows a mission from action to action. */
export interface Progress {
  after(happened: Happened): Verdict;
  /** The clause to do now; undefined when all are done. */
  pending(): Clause | undefined;
}

export function progressOf(mission: Mission): Progress {
  if (mission.verb === 'and') {
    const parts = mission.both.map(progressOf);
    return {
      after: (happened) => {
        const verdicts = parts.map((part) => part.after(happened));
        if (verdicts.includes('failure')) return 'failure';
        return verdicts.every((verdict) => verdict === 'success') ? 'success' : 'continue';
      },
      pending: () => parts.map((part) => part.pending()).find((clause) => clause !== undefined),
    };
  }
  if (mission.verb === 'then') {
    const first = progressOf(mission.first);
    const second = progressOf(mission.second);
    return {
      after: (happened) => {
        const verdict = first.after(happened);
        return verdict === 'success' ? second.after(happened) : verdict;
      },
      pending: () => first.pending() ?? second.pending(),
    };
  }
  let done = false;
  return {
    after: (happened) => {
      const verdict = done ? 'success' : verifyClause(mission, happened);
      done = verdict === 'success';
      return verdict;
    },
    pending: () => (done ? undefined : mission),
  };
}
