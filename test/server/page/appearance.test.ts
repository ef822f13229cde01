import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contrast, findChromium, launchChromium } from '../../evaluate/report/browser.ts';
import { allDone, greyPicture, openPage } from './browser-page.ts';
import { type StandIn, startStandIn } from './scoring-stand-in.ts';

const executable = findChromium();
if (executable === undefined) {
  console.log('skipped: no Chromium on this machine; set CHROMIUM_PATH to check the page in one');
}

/** Text and background of every element that shows text of its own, colours in 0..255. */
const TEXTS = `[...document.querySelectorAll('body *')].flatMap((node) => {
  const own = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data).join('').trim();
  const box = node.getBoundingClientRect();
  if (own === '' || box.width < 2 || box.right < 0 || node.closest('script, style, .unseen, :disabled')) return [];
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const paint = (color) => { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); };
  const chain = [];
  for (let at = node; at; at = at.parentElement) chain.unshift(getComputedStyle(at).backgroundColor);
  chain.forEach(paint);
  const behind = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  paint(getComputedStyle(node).color);
  return [{ own: own.slice(0, 40), text: [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3), behind }];
})`;

describe.skipIf(executable === undefined)('how the page looks', () => {
  let browser: Browser;
  let server: StandIn;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium(executable!);
    server = await startStandIn({ maxBytes: 1_000_000, model: 'stand-in' });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
  afterEach(() => page.close());

  /** Results of every level, a comparison, failures and the question for a token, all at once. */
  async function fill(longName = ''): Promise<void> {
    server.behaviour.refusals.push(
      { status: 401, body: '' },
      { status: 500, body: JSON.stringify({ error: { message: `${longName} broke` } }) },
    );
    const greys = [0, 5, 20, 80, 130, 190, 250];
    await page.setInputFiles(
      '#file',
      await Promise.all(greys.map((grey) => greyPicture(`${longName}${grey}.png`, grey))),
    );
    await allDone(page);
    const compare = page.getByRole('button', { name: /^Compare / });
    await compare.nth(0).click();
    await compare.nth(1).click();
    await page.locator('#comparison').waitFor();
  }

  it.each(['light', 'dark'] as const)('every text keeps 4.5 : 1 in the %s scheme', async (colorScheme) => {
    ({ page } = await openPage(browser, server, { colorScheme }));
    const empty = await page.evaluate<{ own: string; text: number[]; behind: number[] }[]>(TEXTS);
    await fill();
    const full = await page.evaluate<typeof empty>(TEXTS);
    const texts = [...empty, ...full];
    const shown = texts.map(({ own }) => own);
    for (const own of [
      'Drop pictures here',
      'How to read a score',
      'excellent',
      'moderate',
      'Use it',
      'A',
      'B',
    ]) {
      expect(shown).toContain(own);
    }
    expect(texts.filter(({ text, behind }) => contrast(text, behind) < 4.5)).toEqual([]);
    const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const [red] = paper.match(/\d+/g)!.map(Number);
    if (colorScheme === 'light') expect(red).toBeGreaterThan(240);
    else expect(red).toBeLessThan(40);
  });

  it('changes its colours at the press of a button', async () => {
    ({ page } = await openPage(browser, server, { colorScheme: 'light' }));
    const paper = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await paper();
    expect(await page.textContent('#theme')).toBe('Dark');
    await page.click('#theme');
    expect(await paper()).not.toBe(light);
    await page.click('#theme');
    expect(await paper()).toBe(light);
  });

  it.each([360, 768])('fits a screen of %i pixels, whatever files are called', async (width) => {
    ({ page } = await openPage(browser, server, { viewport: { width, height: 760 } }));
    await fill('a-name-without-any-place-to-break-'.repeat(4));
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
    const small = `[...document.querySelectorAll('button, select')].filter((node) => node.offsetHeight > 0 && node.offsetHeight < 36).map((node) => node.textContent)`;
    expect(await page.evaluate(small)).toEqual([]);
  });

  it('stands still for those who ask for it', async () => {
    ({ page } = await openPage(browser, server, { reducedMotion: 'reduce' }));
    server.behaviour.gate = new Promise(() => undefined);
    await page.setInputFiles('#file', await greyPicture('grey.png', 1));
    await page.locator('.card progress').waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    server.behaviour.gate = Promise.resolve();
  });

  it('without scripts says what to do', async () => {
    page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(server.address);
    expect(await page.locator('noscript').textContent()).toContain('POST /v1/score');
  });
});
