import { Rng } from '../../../core/index.ts';
import type { ActionFunction, TextEnvironmentFamily } from '../environment.ts';
import { checkTask, worldEnvironment } from '../world.ts';
import { type Cell, type Move, moved, shortestPath } from './grid.ts';
import { DOUBLE_T_LAYOUTS, type Layout, randomLayout } from './layouts.ts';
import { MazeWorld } from './world.ts';

const INSTRUCTIONS = `You walk through a maze to its goal, in as few steps as you can. Each round you are told the position of the goal, your own position and the walls next to you. Positions are a row and a column: "move right" makes the column greater by one, "move down" makes the row greater by one. A wall in the way leaves you where you are. The actions are: move left, move right, move up, move down.`;

const FUNCTIONS: readonly ActionFunction[] = [
  {
    name: 'move',
    description: 'go one step',
    parameters: [{ name: 'direction', type: 'string', description: 'left, right, up or down' }],
    toAction: ({ direction }) => `move ${direction}`,
    fromAction: (action) => {
      const direction = /^move (left|right|up|down)$/.exec(action)?.[1];
      return direction === undefined ? undefined : { direction };
    },
  },
];

interface MazeFamily {
  name: string;
  tasks: number;
  group(task: number): string;
  layout(task: number, seed: number): Layout;
}

function pathOf({ grid, start, goal }: Layout): Move[] | null {
  return shortestPath(grid, start, goal);
}

function reasonsOf(layout: Layout, path: readonly Move[]): string[] {
  let cell: Cell = layout.start;
  return path.map((move) => {
    const reason = `I am at ${cell[0]}, ${cell[1]} and the goal is at ${layout.goal[0]}, ${layout.goal[1]}: the shortest way goes ${move}.`;
    cell = moved(layout.grid, cell, move);
    return reason;
  });
}

function createFamily({ name, tasks, group, layout }: MazeFamily): TextEnvironmentFamily {
  const layoutOf = (task: number, seed = 0): Layout => {
    checkTask(name, tasks, task);
    return layout(task, seed);
  };
  return {
    name,
    tasks,
    instructions: INSTRUCTIONS,
    functions: FUNCTIONS,
    group: (task) => {
      checkTask(name, tasks, task);
      return group(task);
    },
    create: () => worldEnvironment(name, tasks, (task, seed) => new MazeWorld(layoutOf(task, seed))),
    expert: (task, seed) => pathOf(layoutOf(task, seed))?.map((move) => `move ${move}`) ?? null,
    reasons: (task, seed) => {
      const found = layoutOf(task, seed);
      const path = pathOf(found);
      return path === null ? null : reasonsOf(found, path);
    },
  };
}

/** AgentGym's MAZE: one maze, 25 starts. The seed changes nothing. */
export const createMaze = (): TextEnvironmentFamily =>
  createFamily({
    name: 'maze',
    tasks: DOUBLE_T_LAYOUTS.length,
    group: () => 'double T',
    layout: (task) => DOUBLE_T_LAYOUTS[task] as Layout,
  });

export interface RandomMazeOptions {
  /** Sides of the mazes, walls included: odd, 5 or more. At 11 the longest way still fits into 50 steps. */
  sizes?: readonly number[];
  tasks?: number;
}

/** Mazes in the same words, another for each task and seed; task t has size t mod the number of sizes. */
export function createRandomMaze({ sizes = [5, 7, 9, 11], tasks = 4000 }: RandomMazeOptions = {}) {
  const sizeOf = (task: number): number => sizes[task % sizes.length] as number;
  return createFamily({
    name: 'random-maze',
    tasks,
    group: (task) => `${sizeOf(task)} x ${sizeOf(task)}`,
    layout: (task, seed) => randomLayout(sizeOf(task), new Rng('random-maze').fork(seed, task)),
  });
}
