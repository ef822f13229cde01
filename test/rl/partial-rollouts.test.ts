import { describe, expect, it } from 'vitest';
import {
  continueSegments,
  oldestVersion,
  requireSegments,
  type VersionSegment,
  versionPerToken,
} from '../../src/rl/index.ts';

/** 3 tokens of version 4, 2 more of it, then 1 of version 6. */
const segments = [
  [4, 3],
  [4, 2],
  [6, 1],
].reduce<VersionSegment[]>((all, [version, tokens]) => continueSegments(all, version!, tokens!), []);

describe('partial rollouts', () => {
  it('joins what one version sampled in pieces', () => {
    expect(segments).toEqual([
      { version: 4, from: 0, to: 5 },
      { version: 6, from: 5, to: 6 },
    ]);
  });

  it('says who sampled each token', () => {
    expect([...versionPerToken(segments)]).toEqual([4, 4, 4, 4, 4, 6]);
  });

  it('is as stale as its oldest token', () => {
    expect(oldestVersion(segments)).toBe(4);
  });

  it('has neither tokens nor a version before the first token', () => {
    const none = continueSegments([], 3, 0);
    expect(none).toEqual([]);
    expect(versionPerToken(none)).toHaveLength(0);
    expect(oldestVersion(none)).toBeNull();
  });

  it('is not continued by older weights, nor by half a token', () => {
    expect(() => continueSegments(segments, 5, 1)).toThrow('version 5 continues');
    expect(() => continueSegments(segments, 6, 0.5)).toThrow(RangeError);
    expect(() => continueSegments([], -1, 2)).toThrow(RangeError);
  });

  it.each([
    ['a gap', [{ version: 1, from: 1, to: 2 }]],
    ['an empty segment', [{ version: 1, from: 0, to: 0 }]],
    [
      'versions that fall',
      [
        { version: 2, from: 0, to: 2 },
        { version: 1, from: 2, to: 3 },
      ],
    ],
    [
      'an overlap',
      [
        { version: 1, from: 0, to: 2 },
        { version: 2, from: 1, to: 3 },
      ],
    ],
  ])('refuses %s', (_, broken) => {
    expect(() => requireSegments(broken)).toThrow(RangeError);
  });
});
