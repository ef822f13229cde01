import { describe, expect, it } from 'vitest';
import { centredMean } from '../../src/evaluate/report/curves.ts';
import { escapeHtml, html } from '../../src/evaluate/report/html.ts';
import { scoredText, signed, signedWithInterval } from '../../src/evaluate/report/numbers.ts';
import { panelOf } from '../../src/evaluate/report/panels.ts';
import { mediaType } from '../../src/evaluate/report/pictures.ts';

describe('panelOf', () => {
  it.each([
    ['loss', 'loss'],
    ['train/loss', 'loss'],
    ['validationLoss', 'loss'],
    ['validation/srcc', 'validation'],
    ['validationPlcc', 'validation'],
    ['reward', 'reward'],
    ['reward/consistency', 'reward'],
    ['rewards/accuracy/mean', 'reward'],
    ['rewardFormat', 'reward'],
    ['kl', 'kl'],
    ['klToReference', 'kl'],
    ['entropy', 'entropy'],
    ['completionLength', 'length'],
    ['completions/mean_length', 'length'],
  ])('%s is %s', (name, panel) => expect(panelOf(name)).toBe(panel));
  it.each([
    'reward_std',
    'rewardStd',
    'rewards/accuracy/std',
    'frac_reward_zero_std',
    'group/missingRewards',
    'learningRate',
    'clipRatio',
    'weakly',
    'entropy_clip/covariance',
    'entropy_coefficient',
    'kl_coefficient',
    'reward/judge/timeouts',
    'reward/judge/out_of_range',
  ])('%s is no panel of its own', (name) => expect(panelOf(name)).toBeUndefined());
});

describe('html', () => {
  it('escapes values and leaves markup alone', () => {
    expect(html`<i>${'<&"\'>'}${html`<b>${1}</b>`}${['a', html`<br>`]}</i>`.markup).toBe(
      '<i>&lt;&amp;&quot;&#39;&gt;<b>1</b>a<br></i>',
    );
  });
  it('keeps line breaks and tabs, and shows other control characters as replaced', () => {
    expect(escapeHtml('a\n\tb\u0000\u001bc')).toBe('a\n\tb\uFFFD\uFFFDc');
  });
});

describe('signed', () => {
  it.each([
    [0.1234, '+0.123'],
    [-2, '\u22122.000'],
    [0, '0.000'],
    [-0.0004, '0.000'],
  ])('%f', (value, text) => expect(signed(value)).toBe(text));
});

describe('signedWithInterval', () => {
  const interval = (low: number, high: number) => ({ status: 'ok', low, high, level: 0.95 }) as const;
  it('leaves out an interval that says the same', () =>
    expect(signedWithInterval(0, interval(0, 0)).markup).toBe('0.000'));
  it('keeps one that says more', () =>
    expect(signedWithInterval(0.1, interval(-0.2, 0.3)).markup).toBe(
      '+0.100 <small>[\u22120.200, +0.300]</small>',
    ));
});

describe('scoredText', () => {
  it.each([
    [30, 30, 'n = 30'],
    [27, 30, 'scored 27 of 30'],
    [26, 30, '<strong class="warn">scored 26 of 30</strong>'],
    [0, 30, '<strong class="warn">scored 0 of 30</strong>'],
  ])('%i of %i', (scored, n, markup) => expect(scoredText(scored, n).markup).toBe(markup));
});

it('centredMean shrinks its window at the ends', () => {
  const points = [0, 3, 6, 0, 3].map((value, step) => ({ step, value }));
  expect(centredMean(points, 3).map(({ value }) => value)).toEqual([0, 3, 3, 3, 3]);
});

describe('mediaType', () => {
  it.each([
    [[0x89, 0x50, 0x4e, 0x47], 'image/png'],
    [[0xff, 0xd8, 0xff, 0xe0], 'image/jpeg'],
    [[...Buffer.from('GIF89a')], 'image/gif'],
    [[...Buffer.from('RIFF....WEBP')], 'image/webp'],
    [[...Buffer.from('RIFF....WAVE')], undefined],
    [[], undefined],
  ])('%j', (bytes, type) => expect(mediaType(Uint8Array.from(bytes))).toBe(type));
});
