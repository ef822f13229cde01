import { COLOURS, type Colour, type Grid } from './grid.ts';
import { type LanguageOptions, languageLevel } from './language.ts';
import { type Clause, type Description, type Mission, PLACES } from './mission.ts';
import { Rejected, type Room, type RoomBuilder, type RoomSizes } from './rooms.ts';

export interface LevelKind {
  /** As BabyAI has it. */
  name: string;
  rooms: RoomSizes;
  /** Draws what is in the rooms, and the mission. */
  draw(rooms: RoomBuilder): Mission<Description>;
}

const NINE: RoomSizes = { size: 8, rows: 3, columns: 3 };
const one = (size: number): RoomSizes => ({ size, rows: 1, columns: 1 });
const sized = (size: number): RoomSizes => ({ ...NINE, size });
const row = (size: number, columns: number): RoomSizes => ({ size, rows: 1, columns });

/** Kind and colour of a thing, as a description. */
function as(grid: Grid, id: number): Description {
  const { kind, colour } = grid.thing(id);
  return { kind, colour };
}

const goTo = (what: Description): Clause<Description> => ({ verb: 'go to', what });
const pickUp = (what: Description): Clause<Description> => ({ verb: 'pick up', what });
const open = (what: Description): Clause<Description> => ({ verb: 'open', what });

const middle = (rooms: RoomBuilder): Room => rooms.room(1, 1);

function redBall(objects: number, colour?: Colour): LevelKind['draw'] {
  return (rooms) => {
    rooms.placeAgent();
    const ball = rooms.addObject(rooms.room(0, 0), { kind: 'ball', colour: 'red' });
    rooms.addObjects(objects, colour === undefined ? {} : { colour });
    rooms.requireReachable();
    return goTo(as(rooms.grid, ball));
  };
}

/** Objects in connected rooms, and something to do with one of them. */
function anyObject(objects: number, clause: (what: Description) => Clause<Description>, blocked = false) {
  return (rooms: RoomBuilder): Mission<Description> => {
    rooms.placeAgent();
    rooms.connectAll();
    const ids = rooms.addObjects(objects);
    if (rooms.allReachable() === blocked) throw new Rejected(blocked ? 'nothing is blocked' : 'something is');
    return clause(as(rooms.grid, rooms.rng.pick(ids)));
  };
}

function language(options: LanguageOptions): LevelKind['draw'] {
  return (rooms) => languageLevel(rooms, options);
}

/** A room behind a locked door, its key in another one, and objects in all others. */
function lockedRoom(
  rooms: RoomBuilder,
  objects: number,
  doorColours: (lock: Colour) => readonly Colour[],
): { room: Room; door: number } {
  const room = rooms.randomRoom();
  const door = rooms.addDoor(room, { locked: true });
  const { colour } = rooms.grid.thing(door);
  const others = rooms.rooms.filter((other) => other !== room);
  rooms.addObject(rooms.rng.pick(others), { kind: 'key', colour });
  rooms.connectAll(doorColours(colour));
  for (const other of others) rooms.addObjects(objects, { room: other });
  do rooms.placeAgent();
  while (rooms.agentRoom() === room);
  rooms.requireReachable();
  return { room, door };
}

function goToImpUnlock(rooms: RoomBuilder): Mission<Description> {
  const { room } = lockedRoom(rooms, 2, () => COLOURS);
  const [id] = rooms.addObjects(1, { room });
  return goTo(as(rooms.grid, id as number));
}

function goToRedBlueBall(rooms: RoomBuilder): Mission<Description> {
  rooms.placeAgent();
  for (const id of rooms.addObjects(7)) {
    const { kind, colour } = rooms.grid.thing(id);
    if (kind === 'ball' && (colour === 'red' || colour === 'blue')) throw new Rejected('a second ball');
  }
  const ball = rooms.addObject(rooms.room(0, 0), { kind: 'ball', colour: rooms.rng.pick(['red', 'blue']) });
  rooms.requireReachable();
  return goTo(as(rooms.grid, ball));
}

const fourDoors = (rooms: RoomBuilder, locked?: boolean): number[] =>
  [0, 1, 2, 3].map(() => rooms.addDoor(middle(rooms), locked === undefined ? {} : { locked }));

function goToDoor(rooms: RoomBuilder): Mission<Description> {
  const doors = fourDoors(rooms);
  rooms.placeAgent(middle(rooms));
  return goTo(as(rooms.grid, rooms.rng.pick(doors)));
}

function goToObjDoor(rooms: RoomBuilder): Mission<Description> {
  rooms.placeAgent(middle(rooms));
  const ids = [...rooms.addObjects(8, { room: middle(rooms) }), ...fourDoors(rooms)];
  rooms.requireReachable();
  return goTo(as(rooms.grid, rooms.rng.pick(ids)));
}

function openAny(rooms: RoomBuilder): Mission<Description> {
  rooms.placeAgent();
  rooms.connectAll();
  rooms.addObjects(18);
  rooms.requireReachable();
  return open(as(rooms.grid, rooms.rng.pick([...rooms.grid.doors.keys()])));
}

function openRedDoor(rooms: RoomBuilder): Mission<Description> {
  const door = rooms.addDoor(rooms.room(0, 0), { side: 0, colour: 'red', locked: false });
  rooms.placeAgent(rooms.room(0, 0));
  return open(as(rooms.grid, door));
}

function openDoorLoc(rooms: RoomBuilder): Mission<Description> {
  const colours = rooms.rng.shuffle(COLOURS);
  for (let side = 0; side < 4; side++) {
    rooms.addDoor(middle(rooms), { side, colour: colours[side] as Colour, locked: false });
  }
  rooms.placeAgent(middle(rooms));
  return open({ kind: 'door', colour: null, place: rooms.rng.pick(PLACES) });
}

function openRedBlueDoors(rooms: RoomBuilder): Mission<Description> {
  const red = rooms.addDoor(middle(rooms), { side: 2, colour: 'red', locked: false });
  const blue = rooms.addDoor(middle(rooms), { side: 0, colour: 'blue', locked: false });
  rooms.placeAgent(middle(rooms));
  const first = { ...open(as(rooms.grid, red)), strict: true };
  return { verb: 'then', first, second: open(as(rooms.grid, blue)), words: 'then' };
}

function openDoorsOrder(rooms: RoomBuilder): Mission<Description> {
  const colours = rooms.rng.shuffle(COLOURS).slice(0, 4);
  const doors = colours.map((colour) => rooms.addDoor(middle(rooms), { colour, locked: false }));
  rooms.placeAgent(middle(rooms));
  const [one, other] = rooms.rng.shuffle(doors) as [number, number];
  const first = { ...open(as(rooms.grid, one)), strict: true };
  const second = { ...open(as(rooms.grid, other)), strict: true };
  const form = rooms.rng.pick(['one', 'then', 'after you'] as const);
  return form === 'one' ? first : { verb: 'then', first, second, words: form };
}

function pickupDist(rooms: RoomBuilder): Mission<Description> {
  const id = rooms.rng.pick(rooms.addObjects(5, { unique: true }));
  rooms.placeAgent();
  const { kind, colour } = rooms.grid.thing(id);
  const by = rooms.rng.pick(['kind', 'colour', 'both']);
  return {
    verb: 'pick up',
    what: { kind: by === 'colour' ? null : kind, colour: by === 'kind' ? null : colour },
    strict: true,
  };
}

function pickupAbove(rooms: RoomBuilder): Mission<Description> {
  const id = rooms.addObject(rooms.room(1, 0));
  rooms.addDoor(middle(rooms), { side: 3, locked: false });
  rooms.placeAgent(middle(rooms));
  rooms.connectAll();
  return pickUp(as(rooms.grid, id));
}

function putNextLocal(rooms: RoomBuilder): Mission<Description> {
  rooms.placeAgent();
  const ids = rooms.addObjects(4, { unique: true });
  rooms.requireReachable();
  const [what, next] = rooms.rng.shuffle(ids) as [number, number];
  return { verb: 'put', what: as(rooms.grid, what), next: as(rooms.grid, next) };
}

/** Two rooms without a wall between them. Unique objects in each. */
function twoSides(rooms: RoomBuilder, objects: number): [left: number[], right: number[]] {
  const sides = [0, 1].map((column) =>
    rooms.rng.shuffle(rooms.addObjects(objects, { room: rooms.room(column, 0), unique: true })),
  );
  rooms.removeWall(rooms.room(0, 0), 0);
  return sides as [number[], number[]];
}

function putNextCarrying(rooms: RoomBuilder): Mission<Description> {
  rooms.placeAgent(rooms.room(0, 0));
  const [[left], [right]] = twoSides(rooms, 4) as [[number], [number]];
  const [what, next] = rooms.rng.shuffle([left, right]) as [number, number];
  return { verb: 'put', what: as(rooms.grid, what), next: as(rooms.grid, next) };
}

function moveTwoAcross(rooms: RoomBuilder): Mission<Description> {
  rooms.placeAgent(rooms.room(0, 0));
  const [[a, d], [b, c]] = twoSides(rooms, 9) as [[number, number], [number, number]];
  const put = (what: number, next: number): Clause<Description> => ({
    verb: 'put',
    what: as(rooms.grid, what),
    next: as(rooms.grid, next),
  });
  return { verb: 'then', first: put(a, b), second: put(c, d), words: 'then' };
}

function unlock(rooms: RoomBuilder): Mission<Description> {
  const only = rooms.rng.integer(2) === 0;
  const { door } = lockedRoom(rooms, 3, (lock) => COLOURS.filter((colour) => !only || colour !== lock));
  return open(as(rooms.grid, door));
}

function unlockLocalDist(rooms: RoomBuilder): Mission<Description> {
  const { colour } = rooms.grid.thing(rooms.addDoor(middle(rooms), { locked: true }));
  rooms.addObject(middle(rooms), { kind: 'key', colour });
  rooms.addObjects(3, { room: middle(rooms), unique: true });
  rooms.placeAgent(middle(rooms));
  return open({ kind: 'door', colour: null });
}

function keyInBox(rooms: RoomBuilder): Mission<Description> {
  const { colour } = rooms.grid.thing(rooms.addDoor(middle(rooms), { locked: true }));
  const holds = rooms.add({ kind: 'key', colour });
  rooms.put(middle(rooms), rooms.add({ kind: 'box', colour: rooms.rng.pick(COLOURS), holds }));
  rooms.placeAgent(middle(rooms));
  return open({ kind: 'door', colour: null });
}

function unlockPickupDist(rooms: RoomBuilder): Mission<Description> {
  const box = rooms.addObject(rooms.room(1, 0), { kind: 'box' });
  const door = rooms.addDoor(rooms.room(0, 0), { side: 0, locked: true });
  rooms.addObject(rooms.room(0, 0), { kind: 'key', colour: rooms.grid.thing(door).colour });
  rooms.addObjects(4, { unique: true });
  rooms.placeAgent(rooms.room(0, 0));
  return pickUp(as(rooms.grid, box));
}

function blockedUnlockPickup(rooms: RoomBuilder): Mission<Description> {
  const { grid } = rooms;
  rooms.addObject(rooms.room(1, 0), { kind: 'box' });
  const door = rooms.addDoor(rooms.room(0, 0), { side: 0, locked: true });
  const [x, y] = grid.place(door) as [number, number];
  grid.set(x - 1, y, rooms.add({ kind: 'ball', colour: rooms.rng.pick(COLOURS) }));
  rooms.addObject(rooms.room(0, 0), { kind: 'key', colour: grid.thing(door).colour });
  rooms.placeAgent(rooms.room(0, 0));
  return pickUp({ kind: 'box', colour: null });
}

function unlockToUnlock(rooms: RoomBuilder): Mission<Description> {
  const [a, b] = rooms.rng.shuffle(COLOURS) as [Colour, Colour];
  rooms.addDoor(rooms.room(0, 0), { side: 0, colour: a, locked: true });
  rooms.addObject(rooms.room(2, 0), { kind: 'key', colour: a });
  rooms.addDoor(rooms.room(1, 0), { side: 0, colour: b, locked: true });
  rooms.addObject(rooms.room(1, 0), { kind: 'key', colour: b });
  rooms.addObject(rooms.room(0, 0), { kind: 'ball' });
  rooms.placeAgent(rooms.room(1, 0));
  return pickUp({ kind: 'ball', colour: null });
}

function actionObjDoor(rooms: RoomBuilder): Mission<Description> {
  const ids = rooms.addObjects(5, { room: middle(rooms), unique: true });
  ids.push(...fourDoors(rooms, false));
  rooms.placeAgent(middle(rooms));
  const what = as(rooms.grid, rooms.rng.pick(ids));
  if (rooms.rng.integer(2) === 0) return goTo(what);
  return what.kind === 'door' ? open(what) : pickUp(what);
}

function findObj(rooms: RoomBuilder): Mission<Description> {
  const { kind } = rooms.grid.thing(rooms.addObject(rooms.randomRoom()));
  rooms.placeAgent(middle(rooms));
  rooms.connectAll();
  return pickUp({ kind, colour: null });
}

function keyCorridor(rooms: RoomBuilder): Mission<Description> {
  const { rows } = rooms.sizes;
  for (let j = 1; j < rows; j++) rooms.removeWall(rooms.room(1, j), 3);
  const locked = rooms.room(2, rooms.rng.integer(rows));
  const door = rooms.addDoor(locked, { side: 2, locked: true });
  rooms.addObject(locked, { kind: 'ball' });
  const { colour } = rooms.grid.thing(door);
  rooms.addObject(rooms.room(0, rooms.rng.integer(rows)), { kind: 'key', colour });
  rooms.placeAgent(rooms.room(1, Math.floor(rows / 2)));
  rooms.connectAll();
  return pickUp({ kind: 'ball', colour: null });
}

function oneRoom(rooms: RoomBuilder): Mission<Description> {
  rooms.addObject(rooms.room(0, 0), { kind: 'ball' });
  rooms.placeAgent();
  return pickUp({ kind: 'ball', colour: null });
}

const small = (rows: number): RoomSizes => ({ size: 5, rows, columns: rows });

/** BabyAI's levels in the order in which AgentGym numbers them, from 1. */
export const LEVELS: readonly LevelKind[] = [
  { name: 'GoToRedBallGrey', rooms: one(8), draw: redBall(7, 'grey') },
  { name: 'GoToRedBall', rooms: one(8), draw: redBall(7) },
  { name: 'GoToRedBallNoDists', rooms: one(8), draw: redBall(0) },
  { name: 'GoToObjS6', rooms: one(6), draw: anyObject(1, goTo) },
  { name: 'GoToLocalS8N7', rooms: one(8), draw: anyObject(7, goTo) },
  { name: 'GoToObjMazeS7', rooms: sized(7), draw: anyObject(1, goTo) },
  { name: 'GoToImpUnlock', rooms: NINE, draw: goToImpUnlock },
  {
    name: 'GoToSeqS5R2',
    rooms: small(2),
    draw: language({ objects: 4, lockedRoom: 0, places: false, unblocking: false, verbs: ['go to'] }),
  },
  { name: 'GoToRedBlueBall', rooms: one(8), draw: goToRedBlueBall },
  { name: 'GoToDoor', rooms: sized(7), draw: goToDoor },
  { name: 'GoToObjDoor', rooms: NINE, draw: goToObjDoor },
  { name: 'Open', rooms: NINE, draw: openAny },
  { name: 'OpenRedDoor', rooms: row(5, 2), draw: openRedDoor },
  { name: 'OpenDoorLoc', rooms: NINE, draw: openDoorLoc },
  { name: 'OpenRedBlueDoorsDebug', rooms: sized(6), draw: openRedBlueDoors },
  { name: 'OpenDoorsOrderN4Debug', rooms: sized(6), draw: openDoorsOrder },
  { name: 'Pickup', rooms: NINE, draw: anyObject(18, pickUp) },
  { name: 'UnblockPickup', rooms: NINE, draw: anyObject(20, pickUp, true) },
  {
    name: 'PickupLoc',
    rooms: one(8),
    draw: language({ objects: 8, lockedRoom: 0, unblocking: false, verbs: ['pick up'], forms: ['clause'] }),
  },
  { name: 'PickupDistDebug', rooms: one(7), draw: pickupDist },
  { name: 'PickupAbove', rooms: sized(6), draw: pickupAbove },
  { name: 'PutNextLocalS6N4', rooms: one(6), draw: putNextLocal },
  { name: 'PutNextS7N4Carrying', rooms: row(7, 2), draw: putNextCarrying },
  { name: 'Unlock', rooms: NINE, draw: unlock },
  { name: 'UnlockLocalDist', rooms: NINE, draw: unlockLocalDist },
  { name: 'KeyInBox', rooms: NINE, draw: keyInBox },
  { name: 'UnlockPickupDist', rooms: row(6, 2), draw: unlockPickupDist },
  { name: 'BlockedUnlockPickup', rooms: row(6, 2), draw: blockedUnlockPickup },
  { name: 'UnlockToUnlock', rooms: row(6, 3), draw: unlockToUnlock },
  { name: 'ActionObjDoor', rooms: sized(7), draw: actionObjDoor },
  { name: 'FindObjS7', rooms: sized(7), draw: findObj },
  { name: 'KeyCorridorS6R3', rooms: sized(6), draw: keyCorridor },
  { name: 'OneRoomS20', rooms: one(20), draw: oneRoom },
  { name: 'MoveTwoAcrossS8N9', rooms: row(8, 2), draw: moveTwoAcross },
  {
    name: 'SynthS5R2',
    rooms: small(2),
    draw: language({ objects: 7, places: false, implicitUnlock: false, forms: ['clause'] }),
  },
  { name: 'SynthLoc', rooms: NINE, draw: language({ implicitUnlock: false, forms: ['clause'] }) },
  { name: 'SynthSeq', rooms: NINE, draw: language({ implicitUnlock: false }) },
  { name: 'MiniBossLevel', rooms: small(2), draw: language({ objects: 7, lockedRoom: 0.25 }) },
  { name: 'BossLevel', rooms: NINE, draw: language({}) },
  { name: 'BossLevelNoUnlock', rooms: NINE, draw: language({ lockedRoom: 0, implicitUnlock: false }) },
];

/** Levels in which the agent begins with the object in its hand that it has to move. */
export const CARRYING_LEVELS: ReadonlySet<string> = new Set(['PutNextS7N4Carrying']);
