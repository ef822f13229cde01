import { describe, expect, it } from 'vitest';
import { createRecipeBook, createTextCraft, RECIPE_BOOK } from '../../../src/env/text/index.ts';
import { play, texts } from './play.ts';

const family = createTextCraft();

describe('the recipe table', () => {
  it('has more than 150 items that are crafted, in five depths', () => {
    const depths = [...RECIPE_BOOK.recipes.keys()].map((item) => RECIPE_BOOK.depth(item));
    expect(depths.length).toBeGreaterThanOrEqual(150);
    expect([...new Set(depths)].sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([
    ['ash log', 0],
    ['ash planks', 1],
    ['planks', 1],
    ['stick', 2],
    ['torch', 3],
    ['iron lantern', 4],
    ['lighthouse lamp', 5],
    // Two recipes: from two dyes (depth 2), and from berries that are found.
    ['purple dye', 1],
  ])('%s has depth %i', (item, depth) => {
    expect(RECIPE_BOOK.depth(item)).toBe(depth);
  });

  it('has the depths that raising them step by step ends at', () => {
    const reference = new Map<string, number>();
    const of = (name: string): number => {
      const members = RECIPE_BOOK.tags.get(name);
      if (members !== undefined) return Math.min(...members.map(of));
      if (!RECIPE_BOOK.recipes.has(name)) return 0;
      return reference.get(name) ?? Number.POSITIVE_INFINITY;
    };
    for (let round = 0; round < 10; round++) {
      for (const [item, recipes] of RECIPE_BOOK.recipes) {
        const depths = recipes.map(
          ({ ingredients }) => 1 + Math.max(...ingredients.map(({ name }) => of(name))),
        );
        reference.set(item, Math.min(...depths));
      }
    }
    for (const [item, depth] of reference) expect(RECIPE_BOOK.depth(item), item).toBe(depth);
  });

  it('names tags that have members, each of which there is', () => {
    for (const [tag, members] of RECIPE_BOOK.tags) {
      expect(RECIPE_BOOK.uses.has(tag), tag).toBe(true);
      for (const member of members) expect(RECIPE_BOOK.items.has(member), member).toBe(true);
    }
  });

  it('refuses recipes in a circle', () => {
    expect(() => createRecipeBook(['craft 1 a using 1 b', 'craft 1 b using 1 a'], {})).toThrow(/circle/);
  });
});

describe('the expert', () => {
  it('crafts every goal within the 30 rounds that AgentGym-RL plays', async () => {
    const lengths: number[] = [];
    for (let task = 0; task < family.tasks; task++) {
      const actions = family.expert(task) ?? [];
      const observations = await play(family.create(), task, actions);
      expect(observations.at(-1), `task ${task}`).toMatchObject({ reward: 1, done: true });
      expect(observations.slice(0, -1).every(({ reward, done }) => reward === 0 && !done)).toBe(true);
      lengths.push(actions.length);
    }
    expect(Math.max(...lengths)).toBeLessThanOrEqual(30);
  });

  it('succeeds on 1,000 seeds, by commands that it was shown alone', async () => {
    for (let seed = 0; seed < 1000; seed++) {
      const task = (seed * 7) % family.tasks;
      const actions = family.expert(task, seed) ?? [];
      const observations = await play(family.create(), task, actions, seed);
      expect(observations.at(-1), `task ${task}, seed ${seed}`).toMatchObject({ reward: 1, done: true });
      const shown = new Set(texts(observations)[0]?.split('\n').map(withTags));
      for (const action of actions.filter((one) => one.startsWith('craft'))) {
        expect(shown, action).toContain(withTags(action));
      }
    }
  });

  it('counts what it needs: a banner from scratch', () => {
    const task = taskOf('red banner');
    expect(family.expert(task)).toEqual([
      // 4 red wool is 2 crafts, 10 fleece and 2 red dye; one poppy makes 2. One log makes 4 planks, 2 of them 4 sticks.
      'get 10 fleece',
      'get 1 poppy',
      'get 1 ash log',
      'craft 4 ash planks using 1 ash log',
      'craft 2 red dye using 1 poppy',
      'craft 4 stick using 2 ash planks',
      'craft 2 red wool using 5 fleece, 1 red dye',
      'craft 2 red wool using 5 fleece, 1 red dye',
      'craft 1 red banner using 4 red wool, 1 stick',
    ]);
  });
});

/** A command with the kinds of its ingredients in place of their members. */
function withTags(command: string): string {
  const [output, ingredients] = command.split(' using ');
  const kinds = ingredients?.replaceAll(/[a-z]+ (planks|wool|ingot)/g, '$1');
  return `${output} using ${kinds}`;
}

/** The task of a goal: its place in order of depth. */
function taskOf(goal: string): number {
  const goals = [...RECIPE_BOOK.recipes.keys()];
  return goals.sort((a, b) => RECIPE_BOOK.depth(a) - RECIPE_BOOK.depth(b)).indexOf(goal);
}

describe('observations', () => {
  const book = createRecipeBook(
    [
      'craft 4 oak planks using 1 oak log',
      'craft 4 fir planks using 1 fir log',
      'craft 1 big box using 6 planks, 2 nail',
    ],
    { planks: ['oak planks', 'fir planks'] },
  );
  const boxes = createTextCraft({ book });
  const answers = async (...actions: string[]): Promise<string[]> =>
    texts(await play(boxes.create(), 2, actions)).slice(1);

  it('begins with the commands and the goal', async () => {
    const { text } = await boxes.create().reset(2);
    expect(text).toMatch(/^Crafting commands:\n(craft .*\n){3}\nGoal: craft big box\.$/);
    expect(text).toContain('craft 1 big box using 6 planks, 2 nail\n');
  });

  it('answers get, inventory and craft in the words of the specification', async () => {
    expect(
      await answers(
        'inventory',
        'get 2 oak log',
        'get 2 nail',
        'inventory',
        'craft 4 oak planks using 1 oak log',
        'craft oak planks using 1 oak log',
        'inventory',
        'craft 1 big box using 6 oak planks, 2 nail',
      ),
    ).toEqual([
      'Inventory: You are not carrying anything.',
      'Got 2 oak log',
      'Got 2 nail',
      'Inventory: [oak log] (2) [nail] (2)',
      'Crafted 4 minecraft:oak_planks',
      'Crafted 4 minecraft:oak_planks',
      'Inventory: [nail] (2) [oak planks] (8)',
      'Crafted 1 minecraft:big_box',
    ]);
  });

  it.each([
    ['get 1 oak planks', 'Could not find oak planks'],
    ['get 1 planks', 'Could not find planks'],
    ['get 1 gold', 'Could not find gold'],
    ['craft 4 oak planks using 1 oak log', 'Could not find enough items to craft minecraft:oak_planks'],
    ['craft 1 gold using 2 nail', 'Could not find a valid recipe for gold'],
    ['craft 4 oak planks using 2 nail', 'Could not find a valid recipe for oak planks'],
    ['craft 4 oak planks using nail', 'Wrong item format: nail'],
    ['get oak log', 'Could not execute get oak log'],
    ['dance', 'Could not execute dance'],
    ['', 'Could not execute '],
  ])('%s -> %s', async (action, expected) => {
    const [, , last] = await play(boxes.create(), 2, ['get 2 nail', action]);
    expect(last).toEqual({ text: expected, reward: 0, done: false });
  });

  it('wants the counts of a recipe exactly, and one kind for a tag', async () => {
    const replies = await answers(
      'get 2 oak log',
      'get 1 fir log',
      'get 3 nail',
      'craft 8 oak planks using 2 oak log',
      'craft 4 oak planks using 1 oak log',
      'craft 4 oak planks using 1 oak log',
      'craft 4 fir planks using 1 fir log',
      'craft 1 big box using 6 oak planks, 3 nail',
      'craft 1 big box using 6 oak planks, 2 nail, 1 fir planks',
      'craft 1 big box using 3 oak planks, 3 fir planks, 2 nail',
      'craft 1 big box using 6 planks, 2 nail',
      'craft 1 big box using 6 oak planks, 2 nail',
    );
    expect(replies[3]).toBe('Could not find a valid recipe for oak planks');
    expect(replies.slice(-5)).toEqual([
      'Could not find a valid recipe for big box',
      'Could not find a valid recipe for big box',
      'Could not find a valid recipe for big box',
      'Could not find enough items to craft minecraft:big_box',
      'Crafted 1 minecraft:big_box',
    ]);
  });

  it('counts an ingredient that is named twice once for each', async () => {
    const [, last] = await answers('get 1 nail', 'craft 1 big box using 1 nail, 1 nail');
    expect(last).toBe('Could not find enough items to craft minecraft:big_box');
  });
});

describe('tasks', () => {
  const commandsOf = async (task: number, seed?: number): Promise<string[]> => {
    const { text } = await family.create().reset(task, seed);
    return text.replace('Crafting commands:\n', '').split('\n\n')[0]?.split('\n') ?? [];
  };

  it('are shown with at most ten distractors, drawn by the seed', async () => {
    const task = taskOf('torch');
    const tree = ['ash', 'cedar', 'elm', 'maple', 'pine', 'willow'].map(
      (wood) => `craft 4 ${wood} planks using 1 ${wood} log`,
    );
    const first = await commandsOf(task, 1);
    const second = await commandsOf(task, 2);
    for (const line of [...tree, 'craft 4 stick using 2 planks', 'craft 4 torch using 1 coal, 1 stick']) {
      expect(first).toContain(line);
      expect(second).toContain(line);
    }
    // Planks, coal and sticks have far more than ten other uses.
    expect(first.length).toBe(8 + 10);
    expect(new Set(first).size).toBe(first.length);
    expect(second).not.toEqual(first);
    expect(await commandsOf(task, 1)).toEqual(first);
  });

  it('are grouped by the depth of the goal, the easiest first', () => {
    expect(family.group(taskOf('ash planks'))).toBe('depth 1');
    expect(family.group(family.tasks - 1)).toBe('depth 5');
  });

  it('need no more than the tree where distractors are switched off', async () => {
    const plain = createTextCraft({ distractors: 0 });
    const { text } = await plain.create().reset(taskOf('ash planks'));
    expect(text).toBe('Crafting commands:\ncraft 4 ash planks using 1 ash log\n\nGoal: craft ash planks.');
  });
});
