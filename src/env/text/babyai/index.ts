import type { ActionFunction, TextEnvironmentFamily } from '../environment.ts';
import { checkTask, worldEnvironment } from '../world.ts';
import { type Drawn, generateLevel } from './generate.ts';
import { LEVELS, type LevelKind } from './levels.ts';
import { BabyAiWorld } from './world.ts';

/** BabyAI's levels by name, in the order in which AgentGym numbers them, from 1. */
export const BABYAI_LEVELS: readonly string[] = LEVELS.map(({ name }) => name);

const INSTRUCTIONS = `You walk through rooms and carry out the goal that you are given. Each round you are told what you see before you, up to six steps ahead and three to each side, what you carry, and which actions are possible. Things of the same name are numbered, the nearest first, anew in each round. The actions are:
turn left, turn right: a quarter turn where you stand.
move forward: one step.
go to [object] [number]: walk up to a thing or door, until you face it.
pickup [object] [number]: walk up to it and take it. You can carry one thing.
drop: put what you carry into the free cell before you.
go through [door] [number]: walk into an open doorway.
toggle and go through [door] [number]: open a closed door and walk into the doorway. A locked one needs a key of its colour in your hand.
toggle: open or close the door before you, or open the box before you.
check available actions: have the actions listed again.
An action ends where something unseen is in the way. Doors, and things in narrow places, can hide what is behind them. Carry out what stands before "then", and what stands after "after you", first.`;

const target = {
  name: 'target',
  type: 'string',
  description: 'a thing with its number, as in "red ball 1" or "blue closed door 1"',
} as const;

const withTarget = (name: string, words: string, description: string): ActionFunction => ({
  name,
  description,
  parameters: [target],
  toAction: (args) => `${words} ${args.target}`,
  fromAction: (action) =>
    action.startsWith(`${words} `) ? { target: action.slice(words.length + 1) } : undefined,
});

const plain = (name: string, words: string, description: string): ActionFunction => ({
  name,
  description,
  parameters: [],
  toAction: () => words,
  fromAction: (action) => (action === words ? {} : undefined),
});

const FUNCTIONS: readonly ActionFunction[] = [
  plain('turn_left', 'turn left', 'a quarter turn to the left'),
  plain('turn_right', 'turn right', 'a quarter turn to the right'),
  plain('move_forward', 'move forward', 'one step ahead'),
  withTarget('go_to', 'go to', 'walk up to a thing or door until you face it'),
  withTarget('pickup', 'pickup', 'walk up to a thing and take it'),
  plain('drop', 'drop', 'put what you carry into the free cell before you'),
  withTarget('go_through', 'go through', 'walk into an open doorway'),
  withTarget(
    'toggle_and_go_through',
    'toggle and go through',
    'open a closed door, or a locked one with its key, and walk into the doorway',
  ),
  plain('toggle', 'toggle', 'open or close the door before you, or open the box before you'),
  plain('check_available_actions', 'check available actions', 'have the actions listed again'),
];

/** Levels kept for the next call about them; drawing one takes some milliseconds. */
const KEPT = 2048;

export interface BabyAiOptions {
  tasks?: number;
}

/**
 * BabyAI in AgentGym's words. Task t is level t mod 40 + 1 and its layout t div 40, as AgentGym has it; the seed gives
 * other layouts of the same levels. Layouts are drawn by BabyAI's rules but not from MiniGrid's random numbers: a task
 * is of the same kind as AgentGym's, not the same rooms.
 */
export function createBabyAi({ tasks = 4000 }: BabyAiOptions = {}): TextEnvironmentFamily {
  const kept = new Map<string, Drawn>();
  const drawn = (task: number, seed = 0): Drawn => {
    checkTask('babyai', tasks, task);
    const key = `${task}/${seed}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const kind = LEVELS[task % LEVELS.length] as LevelKind;
    const fresh = generateLevel(kind, `${seed}/${Math.floor(task / LEVELS.length)}`);
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value as string);
    kept.set(key, fresh);
    return fresh;
  };
  return {
    name: 'babyai',
    tasks,
    instructions: INSTRUCTIONS,
    functions: FUNCTIONS,
    group: (task) => {
      checkTask('babyai', tasks, task);
      return `level ${(task % LEVELS.length) + 1}`;
    },
    create: () => worldEnvironment('babyai', tasks, (task, seed) => new BabyAiWorld(drawn(task, seed).level)),
    expert: (task, seed) => drawn(task, seed).solution.map(({ action }) => action),
    reasons: (task, seed) => drawn(task, seed).solution.map(({ reason }) => reason),
  };
}
