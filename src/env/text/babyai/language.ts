import { COLOURS, type Kind, MOVABLE_KINDS } from './grid.ts';
import { type Clause, clausesOf, type Description, type Mission, meant, PLACES } from './mission.ts';
import { Rejected, type Room, type RoomBuilder } from './rooms.ts';

const VERBS = ['go to', 'pick up', 'open', 'put'] as const;
const EVERY_KIND: readonly Kind[] = [...MOVABLE_KINDS, 'door'];

export interface LanguageOptions {
  objects?: number;
  /** Probability of a room behind a locked door. */
  lockedRoom?: number;
  /** Descriptions may say where a thing is. */
  places?: boolean;
  /** Something may have to be moved out of the way. */
  unblocking?: boolean;
  /** What is meant may be in a locked room. */
  implicitUnlock?: boolean;
  verbs?: readonly (typeof VERBS)[number][];
  forms?: readonly ('clause' | 'and' | 'then')[];
}

function addLockedRoom(rooms: RoomBuilder): Room {
  let locked: Room;
  let side: number;
  do {
    locked = rooms.randomRoom();
    side = rooms.rng.integer(4);
  } while (locked.neighbours[side] === undefined);
  const door = rooms.addDoor(locked, { side, locked: true });
  const others = rooms.rooms.filter((room) => room !== locked);
  rooms.addObject(rooms.rng.pick(others), { kind: 'key', colour: rooms.grid.thing(door).colour });
  return locked;
}

/** Rooms full of objects, and a random sentence of the baby language about them: BabyAI's LevelGen. */
export function languageLevel(rooms: RoomBuilder, options: LanguageOptions): Mission<Description> {
  const { objects = 18, lockedRoom = 0.5, places = true, unblocking = true, implicitUnlock = true } = options;
  const { verbs = VERBS, forms = ['clause', 'and', 'then'] } = options;
  const { rng, grid } = rooms;
  const locked = rng.uniform() < lockedRoom ? addLockedRoom(rooms) : undefined;
  rooms.connectAll();
  rooms.addObjects(objects);
  do rooms.placeAgent();
  while (rooms.agentRoom() === locked);
  if (!unblocking) rooms.requireReachable();

  const describe = (kinds: readonly Kind[]): Description => {
    const agentRoom = rooms.agentRoom();
    for (let i = 0; i < 100; i++) {
      const colour = rng.pick([null, ...COLOURS]);
      const kind = rng.pick(kinds);
      const place = places && rng.integer(2) === 0 ? rng.pick(PLACES) : null;
      const ids = meant({ kind, colour, place }, grid, (x, y) => rooms.inside(agentRoom, x, y));
      const counted = ids.filter((id) => {
        if (implicitUnlock || locked === undefined) return true;
        return !rooms.inside(locked, ...(grid.place(id) as [number, number]));
      });
      if (counted.length > 0) return { kind, colour, place };
    }
    throw new Rejected('nothing can be described');
  };
  const clause = (): Clause<Description> => {
    const verb = rng.pick(verbs);
    if (verb === 'put') return { verb, what: describe(MOVABLE_KINDS), next: describe(EVERY_KIND) };
    const kinds = { 'go to': EVERY_KIND, 'pick up': MOVABLE_KINDS, open: ['door'] as const }[verb];
    return { verb, what: describe(kinds) };
  };
  const sentence = (allowed: readonly ('clause' | 'and' | 'then')[]): Mission<Description> => {
    const form = rng.pick(allowed);
    if (form === 'clause') return clause();
    if (form === 'and') return { verb: 'and', both: [clause(), clause()] };
    const [first, second] = [sentence(['clause', 'and']), sentence(['clause', 'and'])];
    return { verb: 'then', first, second, words: rng.pick(['then', 'after you']) };
  };
  const mission = sentence(forms);
  if (unblocking) refuseKeysOfLocks(rooms, mission);
  return mission;
}

/** A key that opens a locked door is not asked for: it would have to be in two places at once. */
function refuseKeysOfLocks({ grid }: RoomBuilder, mission: Mission<Description>): void {
  const locks = [...grid.doors]
    .filter(([, state]) => state === 'locked')
    .map(([id]) => grid.thing(id).colour);
  for (const clause of clausesOf(mission)) {
    for (const { kind, colour } of clause.verb === 'put' ? [clause.what, clause.next] : [clause.what]) {
      if (kind === 'key' && colour !== null && locks.includes(colour))
        throw new Rejected('the key of a lock');
    }
  }
}
