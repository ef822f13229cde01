import { FAMILIES, RECIPE_LINES, TAG_MEMBERS } from './recipe-table.ts';

export interface Ingredient {
  /** An item, or a tag that any one of its members meets. */
  name: string;
  count: number;
}

export interface Recipe {
  output: string;
  /** How many of the output one craft gives. */
  makes: number;
  ingredients: readonly Ingredient[];
}

/** Recipes with what follows from them. Items are written as agents write them: "ash planks". */
export interface RecipeBook {
  /** Recipes by their output; several are alternatives. */
  readonly recipes: ReadonlyMap<string, readonly Recipe[]>;
  /** Members of each tag. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** Every item that there is: outputs, and ingredients that are no tags. */
  readonly items: ReadonlySet<string>;
  /** Recipes that use an item or a tag. */
  readonly uses: ReadonlyMap<string, readonly Recipe[]>;
  /** 0 for what is found, else the smallest over its recipes of the largest over the ingredients, plus 1. Of a tag, of its easiest member. */
  depth(name: string): number;
}

const RECIPE = /^craft (\d+) (.+) using (.+)$/;
const COUNTED = /^(\d+) (.+)$/;

/** One line per value of the family whose placeholder it has; itself where it has none. */
function expand(line: string): string[] {
  for (const [family, values] of Object.entries(FAMILIES)) {
    const placeholder = `{${family}}`;
    if (line.includes(placeholder)) return values.map((value) => line.replaceAll(placeholder, value));
  }
  return [line];
}

/** Reads "craft N output using a x, b y". Throws where a line is not of this form. */
export function parseRecipe(line: string): Recipe {
  const [, makes, output, ingredients] = RECIPE.exec(line) ?? [];
  if (makes === undefined || output === undefined || ingredients === undefined) {
    throw new Error(`not a recipe: ${line}`);
  }
  return {
    output,
    makes: Number(makes),
    ingredients: ingredients.split(', ').map((part) => {
      const [, count, name] = COUNTED.exec(part) ?? [];
      if (count === undefined || name === undefined) throw new Error(`not an ingredient: ${part} (${line})`);
      return { name, count: Number(count) };
    }),
  };
}

export const recipeLine = ({ output, makes, ingredients }: Recipe): string =>
  `craft ${makes} ${output} using ${ingredients.map(({ name, count }) => `${count} ${name}`).join(', ')}`;

function addTo<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** A book of recipe lines and tags. Throws where something needs itself, directly or in a circle. */
export function createRecipeBook(
  lines: readonly string[],
  members: Readonly<Record<string, readonly string[]>>,
): RecipeBook {
  const tags = new Map(Object.entries(members).map(([tag, lines]) => [tag, lines.flatMap(expand)]));
  const recipes = new Map<string, Recipe[]>();
  const uses = new Map<string, Recipe[]>();
  const items = new Set<string>();
  for (const recipe of lines.flatMap(expand).map(parseRecipe)) {
    addTo(recipes, recipe.output, recipe);
    items.add(recipe.output);
    for (const { name } of recipe.ingredients) {
      addTo(uses, name, recipe);
      if (!tags.has(name)) items.add(name);
    }
  }
  const depths = new Map<string, number>();
  const depth = (name: string, above: readonly string[] = []): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    if (above.includes(name)) throw new Error(`recipes in a circle: ${[...above, name].join(', ')}`);
    const path = [...above, name];
    const tagged = tags.get(name);
    const found = recipes.get(name);
    const value =
      tagged !== undefined
        ? Math.min(...tagged.map((member) => depth(member, path)))
        : found === undefined
          ? 0
          : Math.min(
              ...found.map(
                ({ ingredients }) => 1 + Math.max(...ingredients.map((one) => depth(one.name, path))),
              ),
            );
    depths.set(name, value);
    return value;
  };
  for (const name of recipes.keys()) depth(name);
  return { recipes, tags, items, uses, depth: (name) => depth(name) };
}

export const RECIPE_BOOK: RecipeBook = createRecipeBook(RECIPE_LINES, TAG_MEMBERS);

/** Whether an item meets an ingredient: it is the item, or a member of the tag. */
export const meets = (book: RecipeBook, item: string, ingredient: string): boolean =>
  item === ingredient || (book.tags.get(ingredient)?.includes(item) ?? false);
