import { describe, expect, it } from 'vitest';
import {
  type FilterReason,
  filterAnswer,
  filterConfigSchema,
  repeatedShare,
  summarizeFilters,
} from '../../src/teacher/index.ts';
import { record } from './records.ts';

const sound =
  'we see a bed of pebbles with strong jpeg compression. a grid of blocks breaks the shapes. the overall quality is poor.';
const answer = (reasoning: string, score = '2.40'): string =>
  `<think>${reasoning}</think><answer>${score}</answer>`;
const reasonsOf = (text: string, over: object = {}, mos = 2.5): FilterReason[] =>
  filterAnswer(text, record({ mos }), filterConfigSchema.parse(over)).map(({ reason }) => reason);

describe('filterAnswer', () => {
  it('accepts a sound answer', () => {
    expect(reasonsOf(answer(sound))).toEqual([]);
  });

  it.each<[string, string, FilterReason[]]>([
    ['a missing tag', answer(sound).replace('</think>', ''), ['format']],
    ['one decimal', answer(sound, '2.4'), ['format']],
    ['a cut answer', answer(sound).slice(0, 60), ['format']],
    ['a score too far off', answer(sound.replace('poor', 'good'), '3.60'), ['score-distance']],
    ['no level', answer(sound.replace('the overall quality is poor', 'so it goes')), ['level-not-stated']],
    ['a level two off', answer(sound.replace('poor', 'good')), ['level-disagrees']],
    ['the MOS quoted', answer(`${sound} it is 2.50.`), ['leaked-score']],
    ['the MOS quoted with one decimal', answer(`${sound} it is 2.5.`), ['leaked-score']],
    ['a given score', answer(`the given score fits. ${sound}`), ['leaked-score']],
    ['ground truth', answer(`by the ground truth, ${sound}`), ['leaked-score']],
    ['repetition', answer(`${sound} ${sound}`), ['repetition']],
    [
      'a distortion that is not there',
      answer(sound.replace('jpeg compression', 'banding')),
      ['distortion-not-present', 'distortion-missed'],
    ],
    ['an extra distortion', answer(sound.replace('.', ' and mild haze.')), ['distortion-not-present']],
    [
      'no distortion named',
      answer(sound.replace('strong jpeg compression', 'damage')),
      ['distortion-missed'],
    ],
    ['a severity three off', answer(sound.replace('strong', 'slight')), ['severity-off']],
  ])('refuses %s', (_name, text, expected) => {
    expect(reasonsOf(text)).toEqual(expected);
  });

  it('keeps the limit itself inside: distance 1.00 with limit 1', () => {
    expect(reasonsOf(answer(sound, '2.40'), {}, 1.4)).toEqual([]);
    expect(reasonsOf(answer(sound, '2.41'), {}, 1.4)).toEqual(['score-distance']);
  });

  it('asks for the exact level when told to', () => {
    const neighbour = answer(sound.replace('poor', 'fair'));
    expect(reasonsOf(neighbour)).toEqual([]);
    expect(reasonsOf(neighbour, { maxLevelDistance: 0 })).toEqual(['level-disagrees']);
  });

  it('takes another number in the reasoning for no leak', () => {
    expect(reasonsOf(answer(`${sound} about 3.10 edges.`))).toEqual([]);
  });

  it('lets a slight distortion go unnamed', () => {
    const text = answer('no visible distortion, excellent quality.', '4.50');
    const verdict = (level: 1 | 2) =>
      filterAnswer(
        text,
        record({ mos: 4.5, distortions: [{ type: 'jpeg', level }] }),
        filterConfigSchema.parse({}),
      ).map(({ reason }) => reason);
    expect(verdict(1)).toEqual([]);
    expect(verdict(2)).toEqual(['distortion-missed']);
  });

  it('accepts the nearest known type for an unseen one', () => {
    const text = answer(sound.replace('jpeg compression', 'soft blur'));
    const unseen = record({ distortions: [{ type: 'defocusBlur', level: 4 }] });
    expect(filterAnswer(text, unseen, filterConfigSchema.parse({}))).toEqual([]);
  });

  it('does not judge distortions where nobody knows them', () => {
    const { distortions: _, ...photograph } = record();
    const text = answer(sound.replace('jpeg compression', 'banding'));
    expect(filterAnswer(text, photograph, filterConfigSchema.parse({}))).toEqual([]);
  });

  it('reports every reason of one answer', () => {
    const text = answer(`${sound.replace('poor', 'bad')} the given score is 2.50.`, '4.40').replace(
      '<think>',
      '',
    );
    expect(reasonsOf(text)).toEqual(['format', 'score-distance']);
    expect(reasonsOf(answer(`${sound.replace('poor', 'bad')} the given score is 2.50.`, '4.40'))).toEqual([
      'score-distance',
      'level-disagrees',
      'leaked-score',
    ]);
  });

  it('switches rules off', () => {
    const off = { maxScoreDistance: null, maxLevelDistance: null, leak: false, distortions: false };
    expect(reasonsOf(answer('banding. the given score is 2.50. quality is bad.', '5.00'), off)).toEqual([]);
  });
});

describe('repeatedShare', () => {
  it.each([
    ['', 0],
    ['a b c', 0],
    ['a b c d', 0],
    // a b c d | b c d a | c d a b | d a b c | a b c d: the fifth of five runs is a repeat.
    ['a b c d a b c d', 1 / 5],
    ['a a a a a a', 2 / 3],
  ])('%j', (text, expected) => {
    expect(repeatedShare(text)).toBeCloseTo(expected, 12);
  });
});

describe('summarizeFilters', () => {
  it('counts answers per reason, once per answer', () => {
    const summary = summarizeFilters([
      [],
      [{ reason: 'format', detail: '' }],
      [
        { reason: 'format', detail: '' },
        { reason: 'distortion-not-present', detail: 'a' },
        { reason: 'distortion-not-present', detail: 'b' },
      ],
    ]);
    expect(summary).toMatchObject({ total: 3, accepted: 1, rejected: 2 });
    expect(summary.byReason).toMatchObject({ format: 2, 'distortion-not-present': 1, repetition: 0 });
  });
});
