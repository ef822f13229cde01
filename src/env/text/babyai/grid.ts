export const COLOURS = ['red', 'green', 'blue', 'purple', 'yellow', 'grey'] as const;
export type Colour = (typeof COLOURS)[number];

/** What can be picked up. */
export const MOVABLE_KINDS = ['key', 'ball', 'box'] as const;
export type Kind = (typeof MOVABLE_KINDS)[number] | 'door';

export type DoorState = 'open' | 'closed' | 'locked';

/** A door or an object. Where it is and whether a door is open is of the grid, so that grids can share things. */
export interface Thing {
  readonly kind: Kind;
  readonly colour: Colour;
  /** Id of what a box holds. */
  readonly holds?: number;
}

/** Directions by number: right, down, left, up. x grows to the right, y downwards. */
export const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

/** The direction after a number of quarter turns to the right. */
export const turned = (direction: number, quarters: number): number => (direction + quarters + 4) & 3;

/** MiniGrid's actions, without "done", which no level needs. */
export type LowAction = 'left' | 'right' | 'forward' | 'pickup' | 'drop' | 'toggle';

export const EMPTY = 0;
export const WALL = -1;

/** The grid with all that is in it, and the agent. Cells hold EMPTY, WALL or the id of a thing. */
export class Grid {
  readonly width: number;
  readonly height: number;
  readonly cells: Int16Array;
  /** By id; the ids begin at 1. */
  readonly things: (Thing | undefined)[];
  readonly doors: Map<number, DoorState>;
  x = 0;
  y = 0;
  direction = 0;
  /** Id of what is carried, 0 for nothing. */
  carrying = 0;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.cells = new Int16Array(width * height);
    this.things = [undefined];
    this.doors = new Map();
  }

  clone(): Grid {
    const copy = new Grid(this.width, this.height);
    copy.cells.set(this.cells);
    copy.things.push(...this.things.slice(1));
    for (const [id, state] of this.doors) copy.doors.set(id, state);
    copy.x = this.x;
    copy.y = this.y;
    copy.direction = this.direction;
    copy.carrying = this.carrying;
    return copy;
  }

  /** What is in a cell; a wall outside of the grid. */
  at(x: number, y: number): number {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return WALL;
    return this.cells[y * this.width + x] as number;
  }

  set(x: number, y: number, content: number): void {
    this.cells[y * this.width + x] = content;
  }

  thing(id: number): Thing {
    return this.things[id] as Thing;
  }

  front(): [x: number, y: number] {
    const [dx, dy] = DIRECTIONS[this.direction] as (typeof DIRECTIONS)[number];
    return [this.x + dx, this.y + dy];
  }

  ahead(): number {
    return this.at(...this.front());
  }

  /** The place of a thing; undefined while it is carried, in a box or gone. */
  place(id: number): [x: number, y: number] | undefined {
    const index = this.cells.indexOf(id);
    return index < 0 ? undefined : [index % this.width, Math.floor(index / this.width)];
  }

  /** Whether one may stand in a cell with this content. */
  passable(content: number): boolean {
    return content === EMPTY || this.doors.get(content) === 'open';
  }

  /** Whether the carried key fits a door. */
  fits(door: number): boolean {
    const key = this.things[this.carrying];
    return key?.kind === 'key' && key.colour === this.thing(door).colour;
  }

  /** Carries out an action by MiniGrid's rules. Whether anything changed. */
  act(action: LowAction): boolean {
    if (action === 'left' || action === 'right') {
      this.direction = turned(this.direction, action === 'left' ? -1 : 1);
      return true;
    }
    const [x, y] = this.front();
    const ahead = this.at(x, y);
    switch (action) {
      case 'forward':
        if (!this.passable(ahead)) return false;
        this.x = x;
        this.y = y;
        return true;
      case 'pickup':
        if (this.carrying !== 0 || ahead <= 0 || this.thing(ahead).kind === 'door') return false;
        this.carrying = ahead;
        this.set(x, y, EMPTY);
        return true;
      case 'drop':
        if (this.carrying === 0 || ahead !== EMPTY) return false;
        this.set(x, y, this.carrying);
        this.carrying = 0;
        return true;
      case 'toggle':
        return ahead > 0 && this.#toggle(ahead, x, y);
    }
  }

  /** A door opens or closes (a locked one opens for its key, which is kept); a box gives way to what it holds. */
  #toggle(id: number, x: number, y: number): boolean {
    const state = this.doors.get(id);
    if (state !== undefined) {
      if (state === 'locked' && !this.fits(id)) return false;
      this.doors.set(id, state === 'open' ? 'closed' : 'open');
      return true;
    }
    const { holds } = this.thing(id);
    if (holds === undefined) return false;
    this.set(x, y, holds);
    return true;
  }
}
