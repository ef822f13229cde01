import { ConfigError } from '../../core/index.ts';
import { createBabyAi } from './babyai/index.ts';
import type { TextEnvironmentFamily } from './environment.ts';
import { createMaze, createRandomMaze } from './maze/index.ts';
import { createTextCraft } from './textcraft/index.ts';
import { createWordle } from './wordle/index.ts';

/** Worlds that run in this process, by name. */
export const TEXT_FAMILIES = {
  textcraft: createTextCraft(),
  maze: createMaze(),
  'random-maze': createRandomMaze(),
  wordle: createWordle(),
  babyai: createBabyAi(),
} as const satisfies Readonly<Record<string, TextEnvironmentFamily>>;
export type TextFamilyName = keyof typeof TEXT_FAMILIES;

export const TEXT_FAMILY_NAMES = Object.keys(TEXT_FAMILIES) as TextFamilyName[];

/** The family of a name. ConfigError for a name that there is not. */
export function textFamily(name: string): TextEnvironmentFamily {
  if (Object.hasOwn(TEXT_FAMILIES, name)) return TEXT_FAMILIES[name as TextFamilyName];
  throw new ConfigError(`there is no environment ${name}`, {
    hint: `choose one of ${TEXT_FAMILY_NAMES.join(', ')}`,
  });
}
