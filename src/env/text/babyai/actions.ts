import { EMPTY, type Grid, type LowAction } from './grid.ts';
import { ViewPaths } from './paths.ts';
import { type SeenCell, seenCells } from './view.ts';

/** Something in view, by its name and number: "red ball 1", "blue closed door 2". */
export interface Sight extends SeenCell {
  name: string;
}

/** What the agent sees, the nearest first. Numbers count things of the same name. */
export function sightsOf(grid: Grid, seen: readonly SeenCell[]): Sight[] {
  const distance = ({ front, right }: SeenCell): number => front + Math.abs(right);
  const counts = new Map<string, number>();
  return seen
    .filter(({ content }) => content > 0)
    .sort((a, b) => distance(a) - distance(b))
    .map((cell) => {
      const { colour, kind } = grid.thing(cell.content);
      const state = grid.doors.get(cell.content);
      const kindName = state === undefined ? `${colour} ${kind}` : `${colour} ${state} ${kind}`;
      const count = (counts.get(kindName) ?? 0) + 1;
      counts.set(kindName, count);
      return { ...cell, name: `${kindName} ${count}` };
    });
}

/** The nearest wall or box straight ahead and in view: what AgentGym calls a barrier. */
export function barrierOf(
  grid: Grid,
  seen: readonly SeenCell[],
): { name: string; front: number } | undefined {
  const ahead = seen.filter(({ right, content }) => {
    return right === 0 && (content < 0 || (content > 0 && grid.thing(content).kind === 'box'));
  });
  const nearest = ahead.sort((a, b) => a.front - b.front)[0];
  return nearest && { name: nearest.content < 0 ? 'wall' : 'box', front: nearest.front };
}

/** What the agent can do, as actions in words, each by MiniGrid's; and why it cannot do other things. */
export interface Choices {
  possible: Map<string, readonly LowAction[]>;
  refused: Map<string, string>;
}

export const CHECK_ACTIONS = 'check available actions';

/** The actions of AgentGym's BabyAI, in its order; "toggle" is for any door or box ahead. */
export function choicesOf(grid: Grid, seen = seenCells(grid), sights = sightsOf(grid, seen)): Choices {
  const paths = new ViewPaths(grid, seen);
  const possible: Choices['possible'] = new Map([
    ['turn left', ['left']],
    ['turn right', ['right']],
  ]);
  const refused: Choices['refused'] = new Map();
  const offer = (action: string, path: LowAction[] | null, then: readonly LowAction[]): void => {
    if (path !== null) possible.set(action, [...path, ...then]);
    else refused.set(action, `You cannot ${action}, as there is no path leading to it.`);
  };
  const barrier = barrierOf(grid, seen);
  if (barrier === undefined || barrier.front > 1) possible.set('move forward', ['forward']);
  else refused.set('move forward', "There is a barrier in front of you, you can't move forward.");

  const movable = sights.filter(({ content }) => !grid.doors.has(content));
  for (const sight of movable) {
    const action = `pickup ${sight.name}`;
    if (grid.carrying === 0) offer(action, paths.toFace(sight), ['pickup']);
    else refused.set(action, `You cannot ${action}, as you are carrying something.`);
  }
  if (grid.carrying === 0) {
    refused.set('drop', 'You cannot drop the object, as you are not carrying anything.');
  } else if (grid.ahead() === EMPTY) possible.set('drop', ['drop']);
  else refused.set('drop', 'You cannot drop the object, as there is already an object in front of you.');

  for (const sight of sights) {
    const state = grid.doors.get(sight.content);
    if (state === undefined) continue;
    const pass = `go through ${sight.name}`;
    const open = `toggle and go through ${sight.name}`;
    if (state === 'open') {
      offer(pass, paths.toStandIn(sight), []);
      continue;
    }
    refused.set(pass, `You cannot ${pass}, as it is ${state}. You should toggle it first.`);
    const held = grid.things[grid.carrying];
    if (state === 'closed' || grid.fits(sight.content))
      offer(open, paths.toFace(sight), ['toggle', 'forward']);
    else if (held?.kind !== 'key') refused.set(open, `You cannot ${open}, as you are not carrying a key.`);
    else {
      const why = 'as the color of the key you are carrying does not match the color of door.';
      refused.set(open, `You cannot ${open}, ${why}`);
    }
  }
  const ahead = grid.ahead();
  const kind = grid.things[ahead]?.kind;
  if (kind === 'box' || (kind === 'door' && (grid.doors.get(ahead) !== 'locked' || grid.fits(ahead)))) {
    possible.set('toggle', ['toggle']);
  } else refused.set('toggle', 'There is nothing in front of you that you can toggle.');
  for (const sight of sights) offer(`go to ${sight.name}`, paths.toFace(sight), []);
  possible.set(CHECK_ACTIONS, []);
  return { possible, refused };
}
