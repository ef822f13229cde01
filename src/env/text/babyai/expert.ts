import { choicesOf } from './actions.ts';
import { Distances, LOCKED_COST, type Pose } from './distances.ts';
import { Episode, type Level } from './episode.ts';
import { DIRECTIONS, EMPTY, type Grid, type LowAction, turned } from './grid.ts';
import { type Clause, targetText } from './mission.ts';

export interface ExpertAction {
  action: string;
  reason: string;
}

/** More actions than any solution needs. */
const MOST_ACTIONS = 400;
/** A key for a door for a key ... */
const MOST_NESTED = 12;

/** Ends the expert's walk. */
class Ended extends Error {}

type Place = readonly [x: number, y: number];

/**
 * Whether a thing can lie in a cell without being in the way: it is no door's threshold, it stands beside nothing, and
 * the free cells around it hang together without it.
 */
function isHarmless(grid: Grid, x: number, y: number): boolean {
  if (grid.at(x, y) !== EMPTY) return false;
  if (DIRECTIONS.some(([dx, dy]) => grid.at(x + dx, y + dy) > 0)) return false;
  const ring = [
    [0, -1],
    [1, -1],
    [1, 0],
    [1, 1],
    [0, 1],
    [-1, 1],
    [-1, 0],
    [-1, -1],
  ].map(([dx, dy]) => grid.passable(grid.at(x + (dx as number), y + (dy as number))));
  const begins = ring.filter((free, i) => free && !ring[(i + 7) % 8]).length;
  return begins <= 1;
}

function cellsWhere(grid: Grid, test: (x: number, y: number) => boolean): Place[] {
  const cells: Place[] = [];
  for (let y = 0; y < grid.height; y++) {
    for (let x = 0; x < grid.width; x++) if (test(x, y)) cells.push([x, y]);
  }
  return cells;
}

/**
 * Plays a level with full knowledge of the grid, by the actions that an agent has. Always on a way that its distances
 * say is short, by the action that leaves the least of it; doors, keys and things in the way are dealt with as they
 * come. Not always the shortest solution: what unlocking and unblocking cost is estimated.
 */
class Expert {
  readonly episode: Episode;
  readonly actions: ExpertAction[] = [];
  #nested = 0;

  constructor(level: Level) {
    this.episode = new Episode(level);
  }

  play(): void {
    for (let clause = this.episode.pending; clause !== undefined; clause = this.episode.pending) {
      const before = this.actions.length;
      this.#fulfil(clause);
      // It stands before its goal already; only an action lets that count.
      if (this.actions.length === before) this.#do('turn left', ['left'], 'I have to turn to it anew.');
    }
  }

  get #grid(): Grid {
    return this.episode.grid;
  }

  #name(id: number): string {
    const { colour, kind } = this.#grid.thing(id);
    return `the ${colour} ${kind}`;
  }

  #places(ids: readonly number[]): Place[] {
    return ids.map((id) => this.#grid.place(id)).filter((place) => place !== undefined);
  }

  #do(action: string, lowActions: readonly LowAction[], reason: string): undefined {
    this.actions.push({ action, reason });
    this.episode.act(lowActions);
    if (this.episode.over || this.actions.length >= MOST_ACTIONS) throw new Ended();
  }

  /** One of the actions of this moment, by what it does to what is ahead. */
  #doAhead(low: 'pickup' | 'drop' | 'toggle', reason: string): undefined {
    for (const [action, lowActions] of choicesOf(this.#grid).possible) {
      if (lowActions.length === 1 && lowActions[0] === low) return this.#do(action, lowActions, reason);
    }
    throw new Ended();
  }

  #fulfil(clause: Clause): undefined {
    const ids = clause.what.ids;
    const name = targetText(clause.what);
    switch (clause.verb) {
      case 'go to':
        if (this.#places(ids).length === 0) this.#putDown(`To go to ${name}, I must put it down.`);
        else this.#reach(this.#places(ids), `I have to go to ${name}`);
        return;
      case 'pick up':
        if (this.#grid.carrying !== 0) this.#putDown('I need a free hand.');
        this.#pickUp(ids, `I have to pick up ${name}`);
        return;
      case 'open':
        return this.#open(ids, name);
      case 'put':
        return this.#putNext(clause.what.ids, clause.next.ids, name, targetText(clause.next));
    }
  }

  #pickUp(ids: readonly number[], purpose: string): undefined {
    while (!ids.includes(this.#grid.carrying)) {
      this.#reach(this.#places(ids), purpose);
      if (this.#grid.carrying !== 0) this.#putDown('I need a free hand.');
      else this.#doAhead('pickup', `${purpose}, and it is in front of me.`);
    }
  }

  #open(ids: readonly number[], name: string): undefined {
    const purpose = `I have to open ${name}`;
    const byState = (state: string): number[] => ids.filter((id) => this.#grid.doors.get(id) === state);
    for (const state of ['closed', 'open']) {
      const places = this.#places(byState(state));
      if (places.length === 0 || this.#stepsTo(places) >= LOCKED_COST) continue;
      this.#reach(places, purpose);
      if (state === 'open') this.#doAhead('toggle', `${purpose}, and it is open already: I close it first.`);
      return this.#doAhead('toggle', `${purpose}, and I stand before it.`);
    }
    const [door] = byState('locked').sort(
      (a, b) => this.#stepsTo(this.#places([a])) - this.#stepsTo(this.#places([b])),
    );
    if (door === undefined) throw new Ended();
    do {
      this.#getKey(door);
      this.#reach(this.#places([door]), purpose);
    } while (!this.#grid.fits(door));
    this.#doAhead('toggle', `${purpose}, and I have its key.`);
  }

  #putNext(what: readonly number[], next: readonly number[], name: string, nextName: string): undefined {
    const purpose = `I have to put ${name} next to ${nextName}`;
    for (;;) {
      this.#pickUp(what, `I have to take ${name}`);
      const beside = this.#places(next).flatMap(([x, y]) =>
        DIRECTIONS.map(([dx, dy]): Place => [x + dx, y + dy]).filter(
          (place) => this.#grid.at(...place) === EMPTY,
        ),
      );
      this.#reach(beside, purpose);
      if (!what.includes(this.#grid.carrying)) continue;
      return this.#doAhead('drop', `${purpose}, and the cell ahead is next to it.`);
    }
  }

  /** Puts down what is carried where it is in nobody's way. */
  #putDown(reason: string): undefined {
    const held = this.#grid.carrying;
    const purpose = `${reason} I look for a place for ${this.#name(held)}`;
    const harmless = cellsWhere(this.#grid, (x, y) => isHarmless(this.#grid, x, y));
    const free = cellsWhere(this.#grid, (x, y) => this.#grid.at(x, y) === EMPTY);
    this.#reach(this.#stepsTo(harmless) < LOCKED_COST ? harmless : free, purpose);
    if (this.#grid.carrying === held)
      this.#doAhead('drop', `${reason} Here ${this.#name(held)} is not in the way.`);
  }

  #getKey(door: number): void {
    if (this.#grid.fits(door)) return;
    const { colour } = this.#grid.thing(door);
    const isKey = (id: number | undefined): boolean => {
      const thing = this.#grid.things[id ?? 0];
      return thing?.kind === 'key' && thing.colour === colour;
    };
    const ids = this.#grid.things.map((_, id) => id);
    const keys = (): number[] => ids.filter((id) => isKey(id) && this.#grid.place(id) !== undefined);
    if (keys().length === 0) {
      const boxes = ids.filter((id) => isKey(this.#grid.things[id]?.holds));
      const purpose = `The ${colour} key is in ${this.#name(boxes[0] as number)}`;
      this.#reach(this.#places(boxes), purpose);
      this.#doAhead('toggle', `${purpose}, and I stand before it.`);
    }
    this.#pickUp(keys(), `I need the ${colour} key for ${this.#name(door)}`);
  }

  #stepsTo(places: readonly Place[]): number {
    return new Distances(this.#grid, places).from(this.#grid);
  }

  /** Goes until one of the places is straight ahead. What is carried may have had to be put down on the way. */
  #reach(places: readonly Place[], purpose: string): void {
    if (++this.#nested > MOST_NESTED) throw new Ended();
    for (;;) {
      const distances = new Distances(this.#grid, places);
      const left = distances.from(this.#grid);
      if (left === 0) break;
      if (left === Number.POSITIVE_INFINITY) throw new Ended();
      const obstacle = left >= LOCKED_COST ? this.#firstObstacle(distances) : 0;
      if (this.#grid.doors.has(obstacle)) this.#getKey(obstacle);
      else this.#approach(distances, left, purpose);
    }
    this.#nested--;
  }

  /** The first thing in the way, or locked door without its key, on the way that the distances say. */
  #firstObstacle(distances: Distances): number {
    let pose: Pose = this.#grid;
    while (distances.from(pose) > 0) {
      pose = distances.next(pose);
      const content = this.#grid.at(pose.x, pose.y);
      const state = this.#grid.doors.get(content);
      if (content > 0 && (state === undefined || (state === 'locked' && !this.#grid.fits(content))))
        return content;
    }
    return EMPTY;
  }

  /** Comes nearer by the action that leaves the least way; clears what stands before the agent where none does. */
  #approach(distances: Distances, left: number, purpose: string): undefined {
    let best: { action: string; lowActions: readonly LowAction[]; score: number } | undefined;
    for (const [action, lowActions] of choicesOf(this.#grid).possible) {
      const walked = this.#walk(lowActions);
      if (walked === undefined) continue;
      const after = distances.from(walked);
      const score = 2 * after + walked.steps;
      if (after < left && (best === undefined || score < best.score)) best = { action, lowActions, score };
    }
    if (best !== undefined)
      return this.#do(best.action, best.lowActions, `${purpose}: this brings me nearer.`);
    const ahead = this.#grid.ahead();
    if (ahead <= 0 || this.#grid.doors.has(ahead)) throw new Ended();
    if (this.#grid.carrying !== 0)
      return this.#putDown(`${this.#name(ahead)} is in the way, and my hand is full.`);
    this.#doAhead('pickup', `${this.#name(ahead)} is in the way.`);
    this.#putDown('The way must be free.');
  }

  /** Where an action that only walks and opens doors ends; undefined for another one. */
  #walk(lowActions: readonly LowAction[]): (Pose & { steps: number }) | undefined {
    let { x, y, direction } = this.#grid;
    let opened = false;
    let steps = 0;
    for (const low of lowActions) {
      steps++;
      if (low === 'left' || low === 'right') direction = turned(direction, low === 'left' ? -1 : 1);
      else if (low === 'toggle') opened = true;
      else if (low === 'forward') {
        const [dx, dy] = DIRECTIONS[direction] as (typeof DIRECTIONS)[number];
        const content = this.#grid.at(x + dx, y + dy);
        if (!opened && !this.#grid.passable(content)) break;
        x += dx;
        y += dy;
        opened = false;
      } else return undefined;
    }
    return lowActions.length === 1 && lowActions[0] === 'toggle' ? undefined : { x, y, direction, steps };
  }
}

/** Actions that solve a level within its steps, and why each is done; null where the expert finds none. */
export function solve(level: Level): ExpertAction[] | null {
  const expert = new Expert(level);
  try {
    expert.play();
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
  }
  return expert.episode.verdict === 'success' ? expert.actions : null;
}
