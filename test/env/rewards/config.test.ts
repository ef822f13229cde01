import { describe, expect, it } from 'vitest';
import { rewardFiles, rewardTermsConfigSchema, rewardWeightAt } from '../../../src/env/index.ts';

const file = { kind: 'file', name: 'own', weight: 1, range: [0, 1], path: 'reward.mjs' };
const http = { kind: 'http', name: 'far', weight: 1, range: [0, 1], url: 'http://127.0.0.1:5000/get_reward' };
const judge = { kind: 'judge', name: 'judge', weight: 1, url: 'http://127.0.0.1:8000/v1', model: 'm' };

describe('rewardTermsConfigSchema', () => {
  it('takes one term of each kind, and none', () => {
    expect(rewardTermsConfigSchema.parse([file, http, judge]).map(({ kind }) => kind)).toEqual([
      'file',
      'http',
      'judge',
    ]);
    expect(rewardTermsConfigSchema.parse([])).toEqual([]);
  });

  it.each([
    ['an unknown kind', [{ ...file, kind: 'python' }], /kind/],
    ['an unknown key', [{ ...file, colour: 1 }], /colour/],
    ['no range', [{ ...file, range: undefined }], /range/],
    ['a range of one point', [{ ...file, range: [1, 1] }], /first number must be below the second/],
    ['a negative weight', [{ ...file, weight: -1 }], /weight/],
    ['a name of the rubric', [{ ...file, name: 'accuracy' }], /taken by the rubric/],
    ['a name with a slash', [{ ...file, name: 'a/b' }], /a name begins with a letter/],
    ['one name twice', [file, { ...http, name: 'own' }], /the name own is taken by an earlier term/],
    ['a Python file', [{ ...file, path: 'reward.py' }], /allowed are \.js, \.mjs, \.ts and \.mts/],
    [
      'an address with a login',
      [{ ...http, url: 'http://me:secret@host/' }],
      /a key goes into the environment/,
    ],
    [
      'an address with a query',
      [{ ...http, url: 'http://host/?key=secret' }],
      /a key goes into the environment/,
    ],
    ['another protocol', [{ ...http, url: 'ftp://host/' }], /url/],
    ['a key in place of its variable', [{ ...http, keyVariable: 'sk-1234' }], /never the key itself/],
  ])('refuses %s', (_name, config, message) => {
    expect(() => rewardTermsConfigSchema.parse(config)).toThrow(message);
  });

  it('does not repeat a secret of an address', () => {
    const { error } = rewardTermsConfigSchema.safeParse([{ ...http, url: 'http://me:secret@host/' }]);
    expect(error?.message).not.toContain('secret');
  });
});

describe('rewardFiles', () => {
  it('are the reward files and the prompts of the user', () => {
    const config = rewardTermsConfigSchema.parse([
      file,
      http,
      judge,
      { ...judge, name: 'other', prompt: 'own/strict.v1.md' },
    ]);
    expect(rewardFiles(config)).toEqual(['reward.mjs', 'own/strict.v1.md']);
  });
});

describe('rewardWeightAt', () => {
  const move = { from: 1, to: 0, startStep: 10, steps: 40 };

  it.each([
    ['linear', 0, 1],
    ['linear', 10, 1],
    ['linear', 20, 0.75],
    ['linear', 50, 0],
    ['linear', 1000, 0],
    ['cosine', 10, 1],
    // (1 + cos(pi / 4)) / 2
    ['cosine', 20, 0.8535533905932737],
    ['cosine', 30, 0.5],
    ['cosine', 50, 0],
  ] as const)('%s at step %i is %d', (kind, step, weight) => {
    expect(rewardWeightAt({ kind, ...move }, step)).toBeCloseTo(weight, 14);
  });

  it('ends at the very number it was given', () => {
    expect(rewardWeightAt({ kind: 'linear', from: 0.1, to: 0.3, startStep: 0, steps: 3 }, 3)).toBe(0.3);
  });

  it('refuses steps before the first', () => {
    expect(() => rewardWeightAt(1, -1)).toThrow(RangeError);
    expect(() => rewardWeightAt(1, Number.NaN)).toThrow(RangeError);
  });
});
