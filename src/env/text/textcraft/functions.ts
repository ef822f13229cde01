import type { ActionFunction } from '../environment.ts';

const item = { name: 'item', type: 'string', description: 'name of the item' } as const;
const count = { name: 'count', type: 'integer', description: 'how many' } as const;

/** TextCraft's actions as functions. */
export const TEXTCRAFT_FUNCTIONS: readonly ActionFunction[] = [
  {
    name: 'get',
    description: 'take items that are found, not crafted',
    parameters: [count, item],
    toAction: (args) => `get ${args.count} ${args.item}`,
    fromAction: (action) => {
      const [, number, name] = /^get (\d+) (.+)$/.exec(action) ?? [];
      return number === undefined || name === undefined ? undefined : { count: Number(number), item: name };
    },
  },
  {
    name: 'craft',
    description: 'craft items by one of the crafting commands',
    parameters: [
      count,
      item,
      {
        name: 'ingredients',
        type: 'string',
        description: 'ingredients with their numbers, as in "2 red dye, 1 rope"',
      },
    ],
    toAction: (args) => `craft ${args.count} ${args.item} using ${args.ingredients}`,
    fromAction: (action) => {
      const [, number, name, ingredients] = /^craft (\d+) (.+?) using (.+)$/.exec(action) ?? [];
      if (number === undefined || name === undefined || ingredients === undefined) return undefined;
      return { count: Number(number), item: name, ingredients };
    },
  },
  {
    name: 'inventory',
    description: 'look at what you carry',
    parameters: [],
    toAction: () => 'inventory',
    fromAction: (action) => (action === 'inventory' ? {} : undefined),
  },
];
