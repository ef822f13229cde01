import type { Rng } from '../../../core/index.ts';
import { type Recipe, type RecipeBook, recipeLine } from './recipes.ts';

/** Uses of one ingredient that may become distractors, as AgentGym has it. */
const MOST_USES = 10;

/** Every recipe of the way to an item: all alternatives, and those of all members of a tag. */
function treeOf(book: RecipeBook, goal: string): Recipe[] {
  const tree: Recipe[] = [];
  const seen = new Set<string>();
  const open = [goal];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(book.tags.get(name) ?? []));
    for (const recipe of book.recipes.get(name) ?? []) {
      tree.push(recipe);
      open.push(...recipe.ingredients.map((ingredient) => ingredient.name));
    }
  }
  return tree;
}

/**
 * The commands of a task in random order: the recipes of the goal's tree and up to `distractors` others that use
 * an ingredient of the tree.
 */
export function taskCommands(book: RecipeBook, goal: string, distractors: number, rng: Rng): string[] {
  const tree = treeOf(book, goal);
  const lines = new Set(tree.map(recipeLine));
  const others = new Set<string>();
  for (const { ingredients } of tree) {
    for (const { name } of ingredients) {
      const uses = rng.shuffle(book.uses.get(name) ?? []).slice(0, MOST_USES);
      for (const line of uses.map(recipeLine)) if (!lines.has(line)) others.add(line);
    }
  }
  return rng.shuffle([...lines, ...rng.shuffle([...others]).slice(0, distractors)]);
}

/** Goals in order of depth: what can be crafted, the easiest first. Task t has goal t. */
export const goalsOf = (book: RecipeBook): string[] =>
  [...book.recipes.keys()].sort((a, b) => book.depth(a) - book.depth(b));
