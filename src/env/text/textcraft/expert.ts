import type { Recipe, RecipeBook } from './recipes.ts';

export interface ExpertStep {
  action: string;
  reason: string;
}

/** The recipe that makes an item's depth: of its alternatives the one whose ingredients are the easiest. */
function easiest(book: RecipeBook, item: string): Recipe {
  const hardest = (recipe: Recipe): number =>
    Math.max(...recipe.ingredients.map(({ name }) => book.depth(name)));
  const recipes = book.recipes.get(item) ?? [];
  return recipes.reduce((best, recipe) => (hardest(recipe) < hardest(best) ? recipe : best));
}

/** Items that the way to the goal names itself, tags apart. */
function namedItems(book: RecipeBook, goal: string): Set<string> {
  const named = new Set([goal]);
  for (const item of named) {
    if (!book.recipes.has(item)) continue;
    for (const { name } of easiest(book, item).ingredients) if (!book.tags.has(name)) named.add(name);
  }
  return named;
}

/** The member of a tag to use: one that is needed anyway, else the first of the easiest. */
function memberOf(book: RecipeBook, tag: string, needed: ReadonlySet<string>): string {
  const members = (book.tags.get(tag) ?? []).filter((member) => book.depth(member) === book.depth(tag));
  const member = members.find((one) => needed.has(one)) ?? members[0];
  if (member === undefined) throw new Error(`the tag ${tag} has no members`);
  return member;
}

interface Craft {
  recipe: Recipe;
  /** Ingredients with tags resolved. */
  from: { name: string; count: number }[];
  times: number;
}

/** How often each recipe is crafted, from the goal down: an item's whole need is known before it is planned. */
function plan(book: RecipeBook, goal: string): { crafts: Craft[]; found: Map<string, number> } {
  const need = new Map([[goal, 1]]);
  const named = namedItems(book, goal);
  const crafts: Craft[] = [];
  for (let depth = book.depth(goal); depth > 0; depth--) {
    for (const [item, count] of [...need].filter(([name]) => book.depth(name) === depth)) {
      const recipe = easiest(book, item);
      const times = Math.ceil(count / recipe.makes);
      const from = recipe.ingredients.map((one) => ({
        name: book.tags.has(one.name) ? memberOf(book, one.name, named) : one.name,
        count: one.count,
      }));
      for (const one of from) need.set(one.name, (need.get(one.name) ?? 0) + one.count * times);
      crafts.push({ recipe, from, times });
    }
  }
  return { crafts: crafts.reverse(), found: new Map([...need].filter(([name]) => book.depth(name) === 0)) };
}

/** The steps of the recipe tree: everything that is found, each thing once, then the crafts from the bottom up. */
export function textCraftExpert(book: RecipeBook, goal: string): ExpertStep[] {
  const { crafts, found } = plan(book, goal);
  const gets = [...found].map(([item, count]) => {
    const outputs = crafts.filter(({ from }) => from.some(({ name }) => name === item));
    const purposes = [...new Set(outputs.map(({ recipe }) => recipe.output))].join(', ');
    return { action: `get ${count} ${item}`, reason: `I need ${count} ${item} for ${purposes}.` };
  });
  const makes = crafts.flatMap(({ recipe, from, times }) => {
    const ingredients = from.map(({ name, count }) => `${count} ${name}`).join(', ');
    const reason =
      recipe.output === goal
        ? `I have everything that the ${goal} needs: I craft it.`
        : `With ${ingredients} I make ${recipe.makes} ${recipe.output}, on the way to the ${goal}.`;
    const step = { action: `craft ${recipe.makes} ${recipe.output} using ${ingredients}`, reason };
    return Array.from({ length: times }, () => step);
  });
  return [...gets, ...makes];
}
