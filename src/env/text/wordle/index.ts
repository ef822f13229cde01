import { Rng } from '../../../core/index.ts';
import type { ActionFunction, TextEnvironmentFamily } from '../environment.ts';
import { checkTask, worldEnvironment } from '../world.ts';
import { createWordleExpert, type Guess } from './expert.ts';
import { LETTERS, spaced, TRIES } from './feedback.ts';
import { WORDS } from './words.ts';
import { WordleWorld } from './world.ts';

export { feedback as wordleFeedback } from './feedback.ts';
export { WORDS as WORDLE_WORDS } from './words.ts';

const instructionsFor = (words: readonly string[]): string =>
  `You guess a hidden word of ${LETTERS} letters, in at most ${TRIES} tries and as few as you can. A guess is written letter by letter, as in "${spaced(words[0] as string)}". It is answered by a letter for each of its letters: "g" where the hidden word has the same letter in this place, "y" where it has the letter in another place, "b" where it does not have the letter. A guess that is not one of the words below is answered "invalid word" and is a try all the same.
The words are: ${words.join(', ')}.`;

const FUNCTIONS: readonly ActionFunction[] = [
  {
    name: 'guess',
    description: 'guess the hidden word',
    parameters: [{ name: 'word', type: 'string', description: 'a word of five letters' }],
    toAction: ({ word }) => spaced(String(word)),
    fromAction: (action) =>
      /^[a-z]( [a-z]){4}$/.test(action) ? { word: action.replaceAll(' ', '') } : undefined,
  },
];

function reasonFor({ word, possible }: Guess): string {
  if (possible === 1) return `Only ${word} agrees with all answers.`;
  return `${possible} words are still possible, and ${word} tells most of them apart.`;
}

export interface WordleOptions {
  /** Words of five letters, each once. */
  words?: readonly string[];
}

/** Wordle: the hidden words of tasks 0 to the number of words less one are all words, in an order by the seed. */
export function createWordle({ words = WORDS }: WordleOptions = {}): TextEnvironmentFamily {
  const play = createWordleExpert(words);
  const hiddenOf = (task: number, seed = 0): string => {
    checkTask('wordle', words.length, task);
    return new Rng('wordle').fork(seed).shuffle(words)[task] as string;
  };
  return {
    name: 'wordle',
    tasks: words.length,
    instructions: instructionsFor(words),
    functions: FUNCTIONS,
    group: (task) => {
      checkTask('wordle', words.length, task);
      return 'five letters';
    },
    create: () =>
      worldEnvironment('wordle', words.length, (task, seed) => new WordleWorld(words, hiddenOf(task, seed))),
    expert: (task, seed) => play(hiddenOf(task, seed))?.map(({ word }) => spaced(word)) ?? null,
    reasons: (task, seed) => play(hiddenOf(task, seed))?.map(reasonFor) ?? null,
  };
}
