import { describe, expect, it } from 'vitest';
import { namedSpans } from '../../../src/evaluate/report/highlight.ts';

/** The marked stretches of a text, with their verdicts. */
function marks(text: string, named: string[], truth?: string[]): string[] {
  const distortions = (types: string[]) => types.map((type) => ({ type }));
  return namedSpans(text, {
    distortionsNamed: distortions(named),
    ...(truth === undefined ? {} : { distortionsTrue: distortions(truth) }),
  }).map(({ from, to, verdict }) => `${verdict}: ${text.slice(from, to)}`);
}

describe('namedSpans', () => {
  it('finds every spelling of a named type, whatever the case', () => {
    expect(marks('Soft Blur and some gaussian  blur.', ['gaussianBlur'])).toEqual([
      'open: Soft Blur',
      'open: gaussian  blur',
    ]);
  });
  it('says whether what is named is in the picture', () => {
    expect(marks('soft blur, jpeg compression', ['gaussianBlur', 'jpeg'], ['jpeg'])).toEqual([
      'wrong: soft blur',
      'right: jpeg compression',
    ]);
  });
  it('counts the nearest trained relative of an unseen type as right', () => {
    expect(marks('strong soft blur', ['gaussianBlur'], ['defocusBlur'])).toEqual(['right: soft blur']);
  });
  it('leaves out a name that is denied', () => {
    expect(marks('no soft blur. strong soft blur', ['gaussianBlur'], [])).toEqual(['wrong: soft blur']);
  });
  it('marks no part of a word, and nothing over a full stop', () => {
    expect(marks('unpixelation soft. blur', ['pixelation', 'gaussianBlur'])).toEqual([]);
  });
  it('finds types of another vocabulary by their own name', () => {
    expect(marks('some lens flare (c++)', ['lensFlare', 'c++'])).toEqual(['open: lens flare', 'open: c++']);
  });
  it('marks nothing that is not named', () => {
    expect(marks('soft blur', [])).toEqual([]);
  });
});
