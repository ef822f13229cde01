import type { TextObservation } from '../environment.ts';
import type { World } from '../world.ts';
import { type Ingredient, meets, type Recipe, type RecipeBook } from './recipes.ts';

/** Counts have at most six digits: more would not stay exact through an inventory. */
const GET = /^get (\d{1,6}) (.+)$/;
const CRAFT = /^craft (?:(\d{1,6}) )?(.+?) using (.+)$/;
const COUNTED = /^(\d{1,6}) (.+)$/;

/** The item's id in observations of crafts, as AgentGym writes it. */
const idOf = (item: string): string => `minecraft:${item.replaceAll(' ', '_')}`;

/** What cannot be done, in the words that the agent reads. */
class Refusal extends Error {}

/** The ingredients that an action names. */
function ingredientsIn(text: string): Ingredient[] {
  return text.split(',').map((part) => {
    const [, count, name] = COUNTED.exec(part.trim()) ?? [];
    if (count === undefined || name === undefined) throw new Refusal(`Wrong item format: ${part.trim()}`);
    return { name, count: Number(count) };
  });
}

/** Whether the named ingredients are exactly a recipe's: each one met once, in the same number, and none over. */
function matches(book: RecipeBook, recipe: Recipe, named: readonly Ingredient[]): boolean {
  const open = [...named];
  for (const { name, count } of recipe.ingredients) {
    const at = open.findIndex((one) => one.count === count && meets(book, one.name, name));
    if (at < 0) return false;
    open.splice(at, 1);
  }
  return open.length === 0;
}

/**
 * TextCraft: get what is found, craft the rest, until the goal is crafted (reward 1). The count of the output in an
 * action is not compared, as AgentGym's is not: a craft makes what its recipe makes.
 */
export class TextCraftWorld implements World {
  readonly opening: string;
  readonly #book: RecipeBook;
  readonly #goal: string;
  readonly #inventory = new Map<string, number>();

  constructor(book: RecipeBook, goal: string, commands: readonly string[]) {
    this.#book = book;
    this.#goal = goal;
    this.opening = `Crafting commands:\n${commands.join('\n')}\n\nGoal: craft ${goal}.`;
  }

  act(action: string): TextObservation {
    try {
      return this.#do(action);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { text: error.message, reward: 0, done: false };
    }
  }

  /** Amounts are free, so actions cannot be listed. */
  availableActions(): null {
    return null;
  }

  #do(action: string): TextObservation {
    const get = GET.exec(action);
    if (get !== null) return this.#get(get[2] as string, Number(get[1]));
    const craft = CRAFT.exec(action);
    if (craft !== null) return this.#craft(craft[2] as string, ingredientsIn(craft[3] as string));
    if (action.startsWith('inventory')) return { text: this.#list(), reward: 0, done: false };
    throw new Refusal(`Could not execute ${action}`);
  }

  #get(item: string, count: number): TextObservation {
    if (!this.#book.items.has(item) || this.#book.recipes.has(item)) {
      throw new Refusal(`Could not find ${item}`);
    }
    this.#add(item, count);
    return { text: `Got ${count} ${item}`, reward: 0, done: false };
  }

  #craft(item: string, named: readonly Ingredient[]): TextObservation {
    const needed = new Map<string, number>();
    for (const { name, count } of named) needed.set(name, (needed.get(name) ?? 0) + count);
    for (const [name, count] of needed) {
      const held = this.#inventory.get(name);
      if (held === undefined || held < count) {
        throw new Refusal(`Could not find enough items to craft ${idOf(item)}`);
      }
    }
    const recipe = this.#book.recipes.get(item)?.find((one) => matches(this.#book, one, named));
    if (recipe === undefined) throw new Refusal(`Could not find a valid recipe for ${item}`);
    for (const [name, count] of needed) this.#add(name, -count);
    this.#add(item, recipe.makes);
    const done = item === this.#goal;
    return { text: `Crafted ${recipe.makes} ${idOf(item)}`, reward: done ? 1 : 0, done };
  }

  #add(item: string, count: number): void {
    const held = (this.#inventory.get(item) ?? 0) + count;
    if (held === 0) this.#inventory.delete(item);
    else this.#inventory.set(item, held);
  }

  #list(): string {
    if (this.#inventory.size === 0) return 'Inventory: You are not carrying anything.';
    return `Inventory: ${[...this.#inventory].map(([item, count]) => `[${item}] (${count})`).join(' ')}`;
  }
}
