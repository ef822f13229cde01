import { Rng } from '../../../core/index.ts';
import type { TextEnvironmentFamily } from '../environment.ts';
import { checkTask, worldEnvironment } from '../world.ts';
import { textCraftExpert } from './expert.ts';
import { TEXTCRAFT_FUNCTIONS } from './functions.ts';
import { RECIPE_BOOK, type RecipeBook } from './recipes.ts';
import { goalsOf, taskCommands } from './task.ts';
import { TextCraftWorld } from './world.ts';

export { createRecipeBook, RECIPE_BOOK, type Recipe, type RecipeBook } from './recipes.ts';
export { TextCraftWorld } from './world.ts';

const INSTRUCTIONS = `You craft items from recipes. At the beginning you are shown crafting commands and a goal; each round you give one action and are told what came of it. The actions are:
get [number] [item]: take an item that no command makes.
craft [number] [item] using [number] [ingredient], [number] [ingredient]: make an item by one of the crafting commands, from ingredients that you carry, in exactly the numbers of the command.
inventory: look at what you carry.
Always write the numbers. Use the crafting commands that are shown and no others; some of them lead nowhere. Where a command asks for a kind of item, such as planks, take any one item of that kind, such as ash planks.`;

export interface TextCraftOptions {
  book?: RecipeBook;
  /** Commands shown that do not lead to the goal, at most. */
  distractors?: number;
}

/**
 * TextCraft over a recipe book: task t is the t-th goal in order of depth, the seed draws the distractors and the
 * order of the commands. Groups are the depths.
 */
export function createTextCraft(options: TextCraftOptions = {}): TextEnvironmentFamily {
  const { book = RECIPE_BOOK, distractors = 10 } = options;
  const goals = goalsOf(book);
  const goalOf = (task: number): string => {
    checkTask('textcraft', goals.length, task);
    return goals[task] as string;
  };
  return {
    name: 'textcraft',
    tasks: goals.length,
    instructions: INSTRUCTIONS,
    functions: TEXTCRAFT_FUNCTIONS,
    group: (task) => `depth ${book.depth(goalOf(task))}`,
    create: () =>
      // AgentGym's own seed, where none is asked for.
      worldEnvironment('textcraft', goals.length, (task, seed = 42) => {
        const goal = goalOf(task);
        const rng = new Rng('textcraft').fork(seed, task);
        return new TextCraftWorld(book, goal, taskCommands(book, goal, distractors, rng));
      }),
    expert: (task) => textCraftExpert(book, goalOf(task)).map(({ action }) => action),
    reasons: (task) => textCraftExpert(book, goalOf(task)).map(({ reason }) => reason),
  };
}
