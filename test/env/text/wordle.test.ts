import { describe, expect, it } from 'vitest';
import { createWordle, WORDLE_WORDS, wordleFeedback } from '../../../src/env/text/index.ts';
import { feedbackEntropy } from '../../../src/env/text/wordle/expert.ts';
import { play, texts } from './play.ts';

const family = createWordle();

describe('the words', () => {
  it('are words of five letters, each once', () => {
    expect(WORDLE_WORDS.filter((word) => !/^[a-z]{5}$/.test(word))).toEqual([]);
    expect(new Set(WORDLE_WORDS).size).toBe(WORDLE_WORDS.length);
  });
});

describe('feedback', () => {
  it.each([
    ['crane', 'crane', 'ggggg'],
    ['panic', 'felon', 'bbybb'],
    ['felon', 'frown', 'gbbyg'],
    ['shire', 'about', 'bbbbb'],
    // "e" stands once in "table": both of the guess that are elsewhere are yellow, without counting down.
    ['eerie', 'table', 'yybbg'],
    ['level', 'lemon', 'ggbyy'],
  ])('%s against %s: %s', (guess, hidden, expected) => {
    expect(wordleFeedback(guess, hidden)).toBe(expected);
  });
});

describe('a game', () => {
  const words = ['crane', 'stone', 'money', 'panic', 'level', 'table', 'shirt'];
  const game = createWordle({ words });
  const hidden = (task: number): string => game.expert(task)?.at(-1)?.replaceAll(' ', '') ?? '';
  const taskOf = (word: string): number => words.findIndex((_, task) => hidden(task) === word);

  it('answers letter by letter and ends with the word', async () => {
    const observations = await play(game.create(), taskOf('stone'), ['c r a n e', 'money', 's t o n e']);
    expect(observations).toEqual([
      { text: "Let's start Wordle!", reward: 0, done: false },
      { text: 'b b b g g', reward: 0, done: false },
      { text: 'b y y y b', reward: 0, done: false },
      { text: 'g g g g g', reward: 1, done: true },
    ]);
  });

  it('takes an invalid word as a try and ends after six', async () => {
    const guesses = ['zzzzz', 'p a n i c', 'shi', '', 'l e v e l', 'S H I R T'];
    const observations = await play(game.create(), taskOf('table'), guesses);
    expect(texts(observations).slice(1)).toEqual([
      'invalid word',
      'b g b b b',
      'invalid word',
      'invalid word',
      'y y b y y',
      'b b b b y',
    ]);
    expect(observations.map(({ done }) => done)).toEqual([false, false, false, false, false, false, true]);
    expect(observations.every(({ reward }) => reward === 0)).toBe(true);
  });

  it('hides each word in one task, in an order by the seed', () => {
    const hiddenWords = words.map((_, task) => hidden(task));
    expect([...hiddenWords].sort()).toEqual([...words].sort());
    const other = words.map((_, task) => game.expert(task, 5)?.at(-1)?.replaceAll(' ', ''));
    expect(other).not.toEqual(hiddenWords);
    expect([...other].sort()).toEqual([...words].sort());
  });
});

describe('the expert', () => {
  it('finds the word on 1,000 seeds', async () => {
    for (let seed = 0; seed < 1000; seed++) {
      const task = (seed * 3) % family.tasks;
      const observations = await play(family.create(), task, family.expert(task, seed) ?? [], seed);
      expect(observations.at(-1), `task ${task}, seed ${seed}`).toMatchObject({
        text: 'g g g g g',
        reward: 1,
        done: true,
      });
    }
  });

  it('weighs a guess by the entropy of its answers', () => {
    const possible = ['stone', 'store', 'money', 'panic'];
    // ggggg, gggbg, bbyyy, bbbyb: four answers, 2 bits.
    expect(feedbackEntropy('stone', possible)).toBeCloseTo(2, 12);
    // One answer for all says nothing.
    expect(feedbackEntropy('zzzzz', possible)).toBe(0);
    // t stands at 2 in stone and store and nowhere else: two against two.
    expect(feedbackEntropy('ztzzz', possible)).toBeCloseTo(1, 12);
    // i at 4 of panic alone: one against three is -(1/4 log 1/4 + 3/4 log 3/4).
    expect(feedbackEntropy('zzziz', possible)).toBeCloseTo(0.8112781244591328, 12);
  });
});
