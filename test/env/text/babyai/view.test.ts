import { describe, expect, it } from 'vitest';
import { type DoorState, Grid } from '../../../../src/env/text/babyai/grid.ts';
import { seenCells } from '../../../../src/env/text/babyai/view.ts';

/** A grid from its picture: # wall, o ball, | / L a closed, open or locked door, ^ the agent, facing up. */
function gridFrom(picture: readonly string[]): Grid {
  const grid = new Grid(picture[0]?.length ?? 0, picture.length);
  const doors: Record<string, DoorState> = { '|': 'closed', '/': 'open', L: 'locked' };
  for (const [y, line] of picture.entries()) {
    for (const [x, mark] of [...line].entries()) {
      const state = doors[mark];
      if (mark === '#') grid.set(x, y, -1);
      if (mark === 'o' || state !== undefined) {
        grid.things.push({ kind: state === undefined ? 'ball' : 'door', colour: 'red' });
        grid.set(x, y, grid.things.length - 1);
        if (state !== undefined) grid.doors.set(grid.things.length - 1, state);
      }
      if (mark === '^') Object.assign(grid, { x, y, direction: 3 });
    }
  }
  return grid;
}

/** The view as a picture: x seen, . not seen, the agent's own cell ^. */
function viewOf(grid: Grid): string[] {
  const seen = new Set(seenCells(grid).map(({ front, right }) => `${front},${right}`));
  return [6, 5, 4, 3, 2, 1, 0].map((front) =>
    [-3, -2, -1, 0, 1, 2, 3]
      .map((right) => (front === 0 && right === 0 ? '^' : seen.has(`${front},${right}`) ? 'x' : '.'))
      .join(''),
  );
}

describe('the view', () => {
  it('shows all 7 x 7 cells of an empty room', () => {
    const grid = gridFrom([...Array.from({ length: 6 }, () => '       '), '   ^   ']);
    expect(viewOf(grid)).toEqual([
      'xxxxxxx',
      'xxxxxxx',
      'xxxxxxx',
      'xxxxxxx',
      'xxxxxxx',
      'xxxxxxx',
      'xxx^xxx',
    ]);
  });

  it.each([
    ['wall', '#######', '.......'],
    ['wall with a closed door', '###|###', '.......'],
    ['wall with a locked door', '###L###', '.......'],
    // Sight spreads sideways along the whole row from the cells behind the doorway.
    ['wall with an open door', '###/###', 'xxxxxxx'],
  ])('ends at a %s', (_, wall, behind) => {
    const grid = gridFrom(['       ', '       ', '       ', '       ', wall, '       ', '   ^   ']);
    const view = viewOf(grid);
    expect(view.slice(4)).toEqual(['xxxxxxx', 'xxxxxxx', 'xxx^xxx']);
    expect(view[3]).toBe(behind);
  });

  it('goes through balls', () => {
    expect(viewOf(gridFrom(['   o   ', 'ooooooo', '   ^   ']))[4]).toBe('xxxxxxx');
  });
});
