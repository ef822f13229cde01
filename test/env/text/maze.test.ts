import { describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { createMaze, createRandomMaze } from '../../../src/env/text/index.ts';
import { gridOf, openCells, shortestPath } from '../../../src/env/text/maze/grid.ts';
import { randomLayout } from '../../../src/env/text/maze/layouts.ts';
import { play, texts } from './play.ts';

const maze = createMaze();
const randomMaze = createRandomMaze();

describe('the maze of AgentGym', () => {
  it('has 25 starts, each of which its expert leaves by a shortest way', async () => {
    expect(maze.tasks).toBe(25);
    // Steps to the goal (8, 6) by hand: along the upper bars to the arms (columns 3 and 9), down, to the middle, down.
    const upper = [12, 11, 10, 11, 12, 12, 11, 10, 11, 12];
    const lower = [9, 8, 7, 6, 5, 4, 3, 2, 1, 4, 5, 6, 7, 8, 9];
    const lengths = Array.from({ length: 25 }, (_, task) => maze.expert(task)?.length);
    expect(lengths).toEqual([...upper, ...lower]);
    for (let task = 0; task < 25; task++) {
      const observations = await play(maze.create(), task, maze.expert(task) ?? []);
      expect(observations.at(-1)).toEqual({ text: 'Success', reward: 1, done: true });
      expect(observations.slice(0, -1).every(({ reward, done }) => reward === 0 && !done)).toBe(true);
    }
  });

  it('is described in the words of the specification, walls right, left, above, below', async () => {
    // Down the left arm and along the lower bar, into a wall once, to the crossing.
    const observations = await play(maze.create(), 2, [
      'move down',
      'move left',
      'move down',
      'move down',
      'move down',
      'move right',
      'move right',
      'move right',
    ]);
    const goal = 'The goal is at position 8, 6. Your current position is at position';
    expect(texts(observations)).toEqual([
      `${goal} 1, 3. There is a wall above you.`,
      `${goal} 2, 3. There are walls to your right, to your left.`,
      `${goal} 2, 3. There are walls to your right, to your left.`,
      `${goal} 3, 3. There are walls to your right, to your left.`,
      `${goal} 4, 3. There are walls to your right, to your left.`,
      `${goal} 5, 3. There are walls to your left, below you.`,
      `${goal} 5, 4. There are walls above you, below you.`,
      `${goal} 5, 5. There are walls above you, below you.`,
      `${goal} 5, 6. There is a wall above you.`,
    ]);
  });

  it.each(['fly', 'move', '', 'move north', 'move left right'])('stays as it is at "%s"', async (action) => {
    const [before, after] = await play(maze.create(), 4, [action]);
    expect(after).toEqual(before);
  });

  it('answers the action after the fiftieth with Failure', async () => {
    const waiting = Array.from({ length: 50 }, () => 'move up');
    const observations = await play(maze.create(), 0, [...waiting, 'move right']);
    expect(observations[50]).toMatchObject({ reward: 0, done: false });
    expect(observations[51]).toEqual({ text: 'Failure', reward: -1, done: true });
  });

  it('lists its four moves', async () => {
    const environment = maze.create();
    await environment.reset(0);
    expect(await environment.availableActions()).toEqual(['move left', 'move right', 'move up', 'move down']);
  });
});

describe('random mazes', () => {
  it('are solved on 1,000 seeds, never with more than 50 steps', async () => {
    for (let seed = 0; seed < 1000; seed++) {
      const task = (seed * 13) % randomMaze.tasks;
      const actions = randomMaze.expert(task, seed) ?? [];
      const observations = await play(randomMaze.create(), task, actions, seed);
      expect(observations.at(-1), `task ${task}, seed ${seed}`).toMatchObject({ reward: 1, done: true });
      expect(actions.length).toBeLessThanOrEqual(50);
    }
  });

  it('are left by ways as long as the distances that relaxing all cells ends at', () => {
    for (let seed = 0; seed < 60; seed++) {
      const { grid, start, goal } = randomLayout(11, new Rng(seed));
      const distance = grid.map((line) => line.map(() => Number.POSITIVE_INFINITY));
      const at = (row: number, column: number): number => distance[row]?.[column] ?? Number.POSITIVE_INFINITY;
      (distance[goal[0]] as number[])[goal[1]] = 0;
      for (let changed = true; changed; ) {
        changed = false;
        for (const [row, column] of openCells(grid)) {
          const around = Math.min(
            at(row - 1, column),
            at(row + 1, column),
            at(row, column - 1),
            at(row, column + 1),
          );
          if (around + 1 >= at(row, column)) continue;
          (distance[row] as number[])[column] = around + 1;
          changed = true;
        }
      }
      const length = at(start[0], start[1]);
      expect(length, `seed ${seed}`).toBeGreaterThan(0);
      expect(shortestPath(grid, start, goal)?.length, `seed ${seed}`).toBe(length);
    }
  });

  it('reach every odd cell, with some ways more than a tree has', () => {
    // 5 x 5 cells and the 24 openings of a tree are 49; of the other 16 walls each is open with probability 0.1.
    const more: number[] = [];
    for (let seed = 0; seed < 200; seed++) {
      const { grid, start } = randomLayout(11, new Rng(seed));
      const open = openCells(grid);
      more.push(open.length - 49);
      for (const cell of open) expect(shortestPath(grid, start, cell)).not.toBeNull();
    }
    expect(Math.min(...more)).toBeGreaterThanOrEqual(0);
    const mean = more.reduce((sum, count) => sum + count, 0) / more.length;
    // Five standard errors of a binomial mean.
    expect(Math.abs(mean - 1.6)).toBeLessThan(5 * Math.sqrt((16 * 0.1 * 0.9) / more.length));
  });

  it('have no way where there is none', () => {
    const grid = gridOf(['#####', '#.#.#', '#####']);
    expect(shortestPath(grid, [1, 1], [1, 3])).toBeNull();
    expect(shortestPath(grid, [1, 1], [1, 1])).toEqual([]);
  });

  it('differ by task and by seed, and are grouped by size', async () => {
    const expert = (task: number, seed?: number) => randomMaze.expert(task, seed)?.join();
    expect(new Set([3, 7, 11, 15].map((task) => expert(task))).size).toBe(4);
    expect(new Set([1, 2, 3, 4].map((seed) => expert(3, seed))).size).toBe(4);
    expect([0, 1, 2, 3, 4].map((task) => randomMaze.group(task))).toEqual([
      '5 x 5',
      '7 x 7',
      '9 x 9',
      '11 x 11',
      '5 x 5',
    ]);
  });
});
