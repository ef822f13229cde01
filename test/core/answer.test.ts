import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAnswer, hasContractTags, InputError, parseAnswer } from '../../src/core/index.ts';

const inThink = (answer: string): string => `<think>sharp</think><answer>${answer}</answer>`;

describe('parseAnswer: well-formed outputs', () => {
  it.each([
    ['<think>sharp edges.</think><answer>3.42</answer>', 3.42],
    ['<think>sharp</think>\n  <answer>1.00</answer>', 1],
    [inThink('5.00'), 5],
    ['<think>\nmore\nlines <b>and other tags</b>\n</think>\n<answer>4.99</answer>', 4.99],
  ])('%j', (text, score) => {
    const parsed = parseAnswer(text);
    expect(parsed).toMatchObject({ status: 'ok', score, wellFormed: true });
    expect(parsed.problem).toBeUndefined();
  });

  it('returns the reasoning without surrounding white space', () => {
    expect(parseAnswer('<think>\n two words \n</think><answer>2.00</answer>').reasoning).toBe('two words');
  });
});

describe('parseAnswer: readable but not well formed', () => {
  it.each([
    ['text before', `so ${inThink('3.42')}`, 3.42],
    ['leading white space', ` ${inThink('3.42')}`, 3.42],
    ['trailing line end', `${inThink('3.42')}\n`, 3.42],
    ['text after', `${inThink('3.42')} indeed`, 3.42],
    ['text between the blocks', '<think>a</think> so <answer>3.42</answer>', 3.42],
    ['one decimal', inThink('3.4'), 3.4],
    ['three decimals', inThink('3.421'), 3.421],
    ['no decimals', inThink('3'), 3],
    ['white space in the answer', inThink(' 3.42 '), 3.42],
    ['leading zero', inThink('03.42'), 3.42],
    ['quoted', inThink('"3.42"'), 3.42],
    ['JSON number', inThink('{"rating": 3.42}'), 3.42],
    ['JSON string', inThink('{"rating": "3.42"}'), 3.42],
    ['no think block', '<answer>3.42</answer>', 3.42],
    ['think not closed', '<think>a<answer>3.42</answer>', 3.42],
    ['blank reasoning', '<think> </think><answer>3.42</answer>', 3.42],
    ['nested think', '<think>a<think>b</think><answer>3.42</answer>', 3.42],
    ['two answers, the last counts', `${inThink('1.00')}<answer>3.42</answer>`, 3.42],
  ])('%s', (_name, text, score) => {
    expect(parseAnswer(text)).toMatchObject({ status: 'ok', score, wellFormed: false });
    expect(parseAnswer(text).problem).toBeDefined();
  });
});

describe('parseAnswer: outside the scale', () => {
  it.each([
    ['0.99', 0.99],
    ['5.01', 5.01],
    ['-3.00', -3],
    ['75', 75],
  ])('%s is reported, not clamped', (answer, score) => {
    expect(parseAnswer(inThink(answer))).toMatchObject({ status: 'out-of-range', score, wellFormed: false });
  });
});

describe('parseAnswer: no score is guessed', () => {
  it.each([
    ['empty', ''],
    ['a number without tags', '3.42'],
    ['a phrase', inThink('Rating: 3.42')],
    ['a fraction', inThink('3.42/5')],
    ['a decimal comma', inThink('3,42')],
    ['a word', inThink('three')],
    ['an empty answer', inThink('')],
    ['another JSON key', inThink('{"quality": 3.42}')],
    ['a null rating', inThink('{"rating": null}')],
    ['a list', inThink('[3.42]')],
    ['NaN', inThink('NaN')],
    ['cut in the score', '<think>a</think><answer>3.4'],
    ['the last answer not closed', `${inThink('3.42')}<answer>2`],
  ])('%s', (_name, text) => {
    const parsed = parseAnswer(text);
    expect(parsed).toMatchObject({ status: 'unparsable', wellFormed: false });
    expect(parsed.score).toBeUndefined();
  });

  it('still returns the reasoning', () => {
    expect(parseAnswer('<think>blurred</think>').reasoning).toBe('blurred');
  });
});

describe('formatAnswer', () => {
  it('writes the contract with two decimals', () => {
    expect(formatAnswer(' sharp. ', 3.4)).toBe('<think>sharp.</think><answer>3.40</answer>');
  });

  it('rounds to what parseAnswer reads back, for every score of the scale', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 5, noNaN: true }), (score) => {
        const parsed = parseAnswer(formatAnswer('a b', score));
        expect(parsed.wellFormed).toBe(true);
        expect(Math.abs((parsed.score ?? 0) - score)).toBeLessThanOrEqual(0.005 + 1e-9);
      }),
    );
  });

  it.each([
    ['a score below the scale', 'a', 0.999],
    ['a score above the scale', 'a', 5.001],
    ['NaN', 'a', Number.NaN],
    ['blank reasoning', ' ', 3],
    ['a tag in the reasoning', 'a</think>', 3],
  ])('refuses %s', (_name, reasoning, score) => {
    expect(() => formatAnswer(reasoning, score)).toThrow(InputError);
  });
});

const malformed = fileURLToPath(
  new URL('../../../shared/data/teacher_texts/malformed_outputs.jsonl', import.meta.url),
);
const present = existsSync(malformed);
if (!present) console.info(`skipped: recorded model outputs are not at ${malformed}`);

describe.runIf(present)('recorded outputs of other models', () => {
  interface Recorded {
    id: number;
    text: string;
    format_reward: 0 | 1 | null;
  }
  const rows = (present ? readFileSync(malformed, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
  const judged = rows.filter((row) => row.format_reward !== null);

  it.each(judged)('tags of output $id as that trainer judged them', ({ text, format_reward }) => {
    expect(hasContractTags(text)).toBe(format_reward === 1);
  });

  it('only the bare <answer> 3 </answer> among them has a score, and none is well formed', () => {
    const read = rows.filter(({ text }) => parseAnswer(text).status !== 'unparsable');
    expect(read.map(({ id }) => id)).toEqual([19]);
    expect(rows.some(({ text }) => parseAnswer(text).wellFormed)).toBe(false);
  });
});

it('a hostile text of a million opening tags is read at once: its reasoning is absent', () => {
  const parsed = parseAnswer('<think>'.repeat(1_000_000));
  expect([parsed.status, parsed.reasoning]).toEqual(['unparsable', undefined]);
});
