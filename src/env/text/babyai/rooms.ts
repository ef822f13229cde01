import type { Rng } from '../../../core/index.ts';
import {
  COLOURS,
  type Colour,
  DIRECTIONS,
  type DoorState,
  EMPTY,
  Grid,
  MOVABLE_KINDS,
  type Thing,
  WALL,
} from './grid.ts';

/** A draw that makes no level; another is made. */
export class Rejected extends Error {}

/** Rooms in rows and columns, of size x size cells with their walls, which neighbours share. */
export interface RoomSizes {
  size: number;
  rows: number;
  columns: number;
}

interface Room {
  column: number;
  row: number;
  /** Right, down, left, up: a door's id, or "gap" where the wall is taken away. */
  exits: (number | 'gap' | undefined)[];
  neighbours: (Room | undefined)[];
  doorPlaces: ([x: number, y: number] | undefined)[];
  locked: boolean;
}

const MOST_TRIES = 1000;

/** Draws rooms, doors and objects, as MiniGrid's RoomGrid does. Throws Rejected where no place is left. */
export class RoomBuilder {
  readonly grid: Grid;
  readonly rng: Rng;
  readonly sizes: RoomSizes;
  readonly #rooms: Room[];

  constructor(sizes: RoomSizes, rng: Rng) {
    const { size, rows, columns } = sizes;
    const step = size - 1;
    this.sizes = sizes;
    this.rng = rng;
    this.grid = new Grid(step * columns + 1, step * rows + 1);
    for (let y = 0; y < this.grid.height; y++) {
      for (let x = 0; x < this.grid.width; x++) {
        if (x % step === 0 || y % step === 0) this.grid.set(x, y, WALL);
      }
    }
    this.#rooms = Array.from({ length: rows * columns }, (_, i) => ({
      column: i % columns,
      row: Math.floor(i / columns),
      exits: [],
      neighbours: [],
      doorPlaces: [],
      locked: false,
    }));
    for (const room of this.#rooms) this.#drawDoorPlaces(room);
    // The middle of the middle room, until the agent is placed: no object is put right beside it.
    this.grid.x = Math.floor(columns / 2) * step + Math.floor(size / 2);
    this.grid.y = Math.floor(rows / 2) * step + Math.floor(size / 2);
  }

  room(column: number, row: number): Room {
    return this.#rooms[row * this.sizes.columns + column] as Room;
  }

  randomRoom(): Room {
    return this.rng.pick(this.#rooms);
  }

  get rooms(): readonly Room[] {
    return this.#rooms;
  }

  agentRoom(): Room {
    const step = this.sizes.size - 1;
    return this.room(Math.floor(this.grid.x / step), Math.floor(this.grid.y / step));
  }

  /** Whether a cell is in a room or one of its walls. */
  inside(room: Room, x: number, y: number): boolean {
    const step = this.sizes.size - 1;
    const [left, top] = [room.column * step, room.row * step];
    return x >= left && x <= left + step && y >= top && y <= top + step;
  }

  add(thing: Thing): number {
    this.grid.things.push(thing);
    return this.grid.things.length - 1;
  }

  /** A door to a neighbour; on a random free side and of a random colour and lock where these are not given. */
  addDoor(room: Room, options: { side?: number; colour?: Colour; locked?: boolean } = {}): number {
    const free = [0, 1, 2, 3].filter((side) => room.neighbours[side] && room.exits[side] === undefined);
    const side = options.side ?? this.rng.pick(free);
    const { colour = this.rng.pick(COLOURS), locked = this.rng.integer(2) === 0 } = options;
    const id = this.add({ kind: 'door', colour });
    const state: DoorState = locked ? 'locked' : 'closed';
    this.grid.doors.set(id, state);
    this.grid.set(...(room.doorPlaces[side] as [number, number]), id);
    room.locked = locked;
    this.#connect(room, side, id);
    return id;
  }

  /** Takes a wall between two rooms away. */
  removeWall(room: Room, side: number): void {
    const step = this.sizes.size - 1;
    const [left, top] = [room.column * step, room.row * step];
    for (let i = 1; i < step; i++) {
      if (side === 0) this.grid.set(left + step, top + i, EMPTY);
      else if (side === 1) this.grid.set(left + i, top + step, EMPTY);
      else if (side === 2) this.grid.set(left, top + i, EMPTY);
      else this.grid.set(left + i, top, EMPTY);
    }
    this.#connect(room, side, 'gap');
  }

  /** Puts a thing into a free cell of a room, not beside the agent. */
  put(room: Room, id: number): void {
    const [x, y] = this.#freeCell(
      room,
      (cx, cy) => Math.abs(cx - this.grid.x) + Math.abs(cy - this.grid.y) >= 2,
    );
    this.grid.set(x, y, id);
  }

  addObject(room: Room, options: { kind?: (typeof MOVABLE_KINDS)[number]; colour?: Colour } = {}): number {
    const { kind = this.rng.pick(MOVABLE_KINDS), colour = this.rng.pick(COLOURS) } = options;
    const id = this.add({ kind, colour });
    this.put(room, id);
    return id;
  }

  /** Random objects, in a room or in random ones; unique ones differ from all that are there in kind or colour. */
  addObjects(count: number, options: { room?: Room; unique?: boolean; colour?: Colour } = {}): number[] {
    const ids: number[] = [];
    while (ids.length < count) {
      const kind = this.rng.pick(MOVABLE_KINDS);
      const colour = options.colour ?? this.rng.pick(COLOURS);
      const same = this.grid.things.some((thing) => thing?.kind === kind && thing.colour === colour);
      if (options.unique && same) continue;
      ids.push(this.addObject(options.room ?? this.randomRoom(), { kind, colour }));
    }
    return ids;
  }

  /** Puts the agent into a room, facing nothing or a wall. */
  placeAgent(room = this.randomRoom()): void {
    for (let i = 0; i < MOST_TRIES; i++) {
      [this.grid.x, this.grid.y] = this.#freeCell(room, () => true);
      this.grid.direction = this.rng.integer(4);
      if (this.grid.ahead() <= 0) return;
    }
    throw new Rejected('no place for the agent');
  }

  /** Adds closed doors until all rooms hang together; locked rooms get no other door. */
  connectAll(colours: readonly Colour[] = COLOURS): void {
    for (let i = 0; i < 5000; i++) {
      if (this.#reached().size === this.#rooms.length) return;
      const room = this.randomRoom();
      const side = this.rng.integer(4);
      const neighbour = room.neighbours[side];
      if (neighbour === undefined || room.exits[side] !== undefined || room.locked || neighbour.locked)
        continue;
      this.addDoor(room, { side, colour: this.rng.pick(colours), locked: false });
    }
    throw new Rejected('the rooms cannot be connected');
  }

  /** Whether the agent can come beside everything without moving anything, doors as if open. */
  allReachable(): boolean {
    const { grid } = this;
    const reached = new Set<number>();
    const queue = [[grid.x, grid.y]] as [number, number][];
    for (const [x, y] of queue) {
      const index = y * grid.width + x;
      const content = grid.at(x, y);
      if (content === WALL || reached.has(index)) continue;
      reached.add(index);
      if (content !== EMPTY && grid.thing(content).kind !== 'door') continue;
      for (const [dx, dy] of DIRECTIONS) queue.push([x + dx, y + dy]);
    }
    return grid.cells.every((content, index) => content <= 0 || reached.has(index));
  }

  requireReachable(): void {
    if (!this.allReachable()) throw new Rejected('something cannot be reached');
  }

  #drawDoorPlaces(room: Room): void {
    const { size, rows, columns } = this.sizes;
    const step = size - 1;
    const { column, row } = room;
    const along = (): number => 1 + this.rng.integer(size - 2);
    if (column < columns - 1) {
      room.neighbours[0] = this.room(column + 1, row);
      room.doorPlaces[0] = [(column + 1) * step, row * step + along()];
    }
    if (row < rows - 1) {
      room.neighbours[1] = this.room(column, row + 1);
      room.doorPlaces[1] = [column * step + along(), (row + 1) * step];
    }
    if (column > 0) {
      room.neighbours[2] = this.room(column - 1, row);
      room.doorPlaces[2] = room.neighbours[2].doorPlaces[0];
    }
    if (row > 0) {
      room.neighbours[3] = this.room(column, row - 1);
      room.doorPlaces[3] = room.neighbours[3].doorPlaces[1];
    }
  }

  #connect(room: Room, side: number, exit: number | 'gap'): void {
    room.exits[side] = exit;
    (room.neighbours[side] as Room).exits[(side + 2) % 4] = exit;
  }

  #freeCell(room: Room, allowed: (x: number, y: number) => boolean): [x: number, y: number] {
    const { size } = this.sizes;
    const step = size - 1;
    for (let i = 0; i < MOST_TRIES; i++) {
      const x = room.column * step + this.rng.integer(size);
      const y = room.row * step + this.rng.integer(size);
      if (this.grid.at(x, y) === EMPTY && allowed(x, y) && !(x === this.grid.x && y === this.grid.y)) {
        return [x, y];
      }
    }
    throw new Rejected('no free cell is left');
  }

  #reached(): Set<Room> {
    const reached = new Set([this.agentRoom()]);
    for (const room of reached) {
      for (const [side, neighbour] of room.neighbours.entries()) {
        if (neighbour !== undefined && room.exits[side] !== undefined) reached.add(neighbour);
      }
    }
    return reached;
  }
}

export type { Room };
