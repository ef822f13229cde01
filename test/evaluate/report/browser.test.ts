import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  compare,
  GRPO_PANELS,
  type Prediction,
  summarize,
  writeReport,
} from '../../../src/evaluate/index.ts';
import { prediction } from '../prediction-factory.ts';
import { contrast, findChromium, launchChromium } from './browser.ts';

const executable = findChromium();
if (executable === undefined) {
  console.log('skipped: no Chromium on this machine; set CHROMIUM_PATH to check the page in one');
}

const HOSTILE = '</script><img src=x onerror="window.pwned=1"><script>window.pwned=1</script> & "quotes"';

/** 60 pictures; picture k is wrong by k hundredths of a point, so that the worst is p59. */
function predictions(sign: 1 | -1): Prediction[] {
  return Array.from({ length: 60 }, (_, k) => {
    const id = `p${String(k).padStart(2, '0')}`;
    const mos = 2 + (k % 10) / 5;
    if (k === 0) return prediction(id, mos, null, { text: HOSTILE, finishReason: 'length' });
    const reasoning =
      k === 7
        ? `a zebra with strong soft blur. ${HOSTILE}`
        : `a street with strong soft blur and no white noise.`;
    return prediction(id, mos, mos + (sign * k) / 100, {
      ...(k === 9 ? { image: `${HOSTILE}.png` } : {}),
      text: `<think>${reasoning}</think><answer>3.00</answer>`,
      reasoning,
      distortionsNamed: [{ type: 'gaussianBlur', level: 4 }],
      distortionsTrue: [k % 2 === 0 ? { type: 'gaussianBlur', level: 3 } : { type: 'jpeg', level: 2 }],
      levelStated: 'fair',
    });
  });
}

describe.skipIf(executable === undefined)('the page in Chromium', () => {
  let folder: string;
  let address: string;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let requests: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'q-ponder-page-'));
    const [before, after] = [predictions(-1), predictions(1)];
    const split = (rows: Prediction[], name: string) => ({
      split: name,
      predictions: rows,
      summary: summarize(rows, { resamples: 50 }),
    });
    const few = after.slice(20, 30);
    const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#336699' } })
      .png()
      .toBuffer();
    const path = join(folder, 'report.html');
    await writeReport(path, {
      title: `Page ${HOSTILE}`,
      createdAt: '2026-01-02T03:04:05Z',
      provenance: [{ label: 'file', value: HOSTILE }],
      stages: [
        {
          name: 'GRPO',
          expects: GRPO_PANELS,
          rows: [0, 1, 2].map((step) => ({ step, 'reward/mean': step, kl: step / 10, entropy: 1 })),
          configuration: { model: { path: HOSTILE } },
          rollouts: [0.2, 0.9].map((value) => ({
            step: 1,
            image: 'train-1',
            mos: 3,
            text: `${HOSTILE} ${value}`,
            finishReason: 'stop',
            terms: { accuracy: { status: 'ok', value } },
            total: { status: 'ok', value },
          })),
        },
      ],
      models: [
        { name: 'before', splits: [split(before, 'first'), split(few, 'second')] },
        { name: 'after', splits: [split(after, 'first'), split(few, 'second')] },
      ],
      comparisons: [
        {
          split: 'first',
          baseline: 'before',
          candidate: 'after',
          result: compare(before, after, { resamples: 50 }),
        },
      ],
      picture: async () => bytes,
    });
    address = pathToFileURL(path).href;
    browser = await launchChromium(executable!);
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (options: Parameters<Browser['newPage']>[0] = {}) => {
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    complaints = [];
    requests = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(address);
    await page.locator('html[data-ready=true]').waitFor();
  };
  const shown = () =>
    page.locator('#cards .card').evaluateAll((cards) => cards.map((card) => card.dataset.id));
  const focused = () => page.evaluate<string | undefined>('document.activeElement?.dataset.id');
  beforeEach(() => open());
  afterEach(() => page.close());

  it('asks for nothing and complains of nothing', async () => {
    await page.locator('#cards').scrollIntoViewIfNeeded();
    await page.locator('#cards img').first().waitFor();
    await page.locator('#cards summary').first().click();
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => url !== address && !url.startsWith('data:'))).toEqual([]);
  });

  it('shows hostile text as text', async () => {
    await page.fill('#q', 'zebra');
    expect(await page.locator('#cards blockquote').textContent()).toBe(
      `a zebra with strong soft blur. ${HOSTILE}`,
    );
    expect(await page.locator('h1').textContent()).toBe(`Page ${HOSTILE}`);
    expect(await page.locator('#training .answer').first().textContent()).toBe(`${HOSTILE} 0.9`);
    expect(await page.evaluate<boolean>('"pwned" in window')).toBe(false);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  });

  describe('the gallery', () => {
    it('begins with the largest error of the last model on the first split', async () => {
      expect((await shown()).slice(0, 3)).toEqual(['p59', 'p58', 'p57']);
      expect(await page.textContent('#count')).toBe('60 of 70 answers');
    });
    it.each([
      ['best', 'p01'],
      ['kind', 'p59'],
      ['harsh', 'p01'],
      ['mos-down', 'p09'],
      ['mos-up', 'p00'],
      ['id', 'p00'],
    ])('ordered by %s begins with %s', async (order, id) => {
      await page.selectOption('#sort', order);
      expect((await shown())[0]).toBe(id);
    });
    it('builds one page of cards at a time, so that thousands open as fast as few', async () => {
      expect(await page.locator('#cards .card').count()).toBe(48);
      await page.click('#next');
      expect(await page.locator('#cards .card').count()).toBe(12);
    });
    it('puts an answer without a score last', async () => {
      await page.click('#next');
      expect((await shown()).at(-1)).toBe('p00');
    });
    it('shows another model by its own errors', async () => {
      await page.selectOption('#model', '0');
      await page.selectOption('#sort', 'harsh');
      expect((await shown())[0]).toBe('p59');
      expect(await page.locator('.card .error').first().textContent()).toBe('\u22120.59');
    });
    it('narrows to what holds all the words', async () => {
      await page.fill('#q', 'ZEBRA blur');
      expect(await shown()).toEqual(['p07']);
      expect(await page.textContent('#count')).toBe('1 of 70 answers');
      await page.fill('#q', 'zebra street');
      expect(await shown()).toEqual([]);
      expect(await page.textContent('#cards')).toContain('No answer fits');
    });
    it('filters by split, distortion and answer, and resets', async () => {
      await page.selectOption('#split', '1');
      expect((await shown()).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `p${20 + i}`));
      await page.selectOption('#type', 'jpeg');
      expect((await shown()).toSorted()).toEqual(['p21', 'p23', 'p25', 'p27', 'p29']);
      await page.click('button[type=reset]');
      await page.selectOption('#flag', 'no score');
      expect(await shown()).toEqual(['p00']);
    });
    it('marks what is named, by whether it is there, and not what is denied', async () => {
      const marks = (id: string) =>
        page
          .locator(`.card[data-id=${id}] mark`)
          .evaluateAll((nodes) => nodes.map((node) => [node.className, node.textContent]));
      expect(await marks('p58')).toEqual([['right', 'soft blur']]);
      expect(await marks('p59')).toEqual([['wrong', 'soft blur']]);
    });
    it('moves by the keyboard, over the end of a page too', async () => {
      await page.keyboard.press('/');
      await page.keyboard.type('a street');
      await page.keyboard.press('Enter');
      expect(await focused()).toBe('p59');
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe('p58');
      await page.keyboard.press('ArrowDown'); // Three cards to a row.
      expect(await focused()).toBe('p55');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowLeft');
      expect(await focused()).toBe('p59');
      await page.keyboard.press('End');
      expect(await focused()).toBe('p12'); // 48 to a page, from p59 down.
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe('p11');
      await page.keyboard.press('PageUp');
      expect(await focused()).toBe('p59');
    });
    it('opens the whole answers of all models on Enter, and Tab leaves the cards in one step', async () => {
      await page.locator('.card').first().focus();
      await page.keyboard.press('Enter');
      const answers = page.locator('.card').first().locator('pre');
      expect(await answers.allTextContents()).toEqual(
        Array<string>(2).fill(
          '<think>a street with strong soft blur and no white noise.</think><answer>3.00</answer>',
        ),
      );
      expect(await page.locator('.card[tabindex="0"]').count()).toBe(1);
    });
  });

  describe('tabs', () => {
    it('show the figures of one split at a time, by arrow keys too', async () => {
      const visible = () =>
        page
          .locator('.panel')
          .evaluateAll((panels) => panels.map((panel) => 'hidden' in panel && panel.hidden));
      expect(await visible()).toEqual([false, true]);
      await page.locator('[role=tab]').first().focus();
      await page.keyboard.press('ArrowRight');
      expect(await visible()).toEqual([true, false]);
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('second');
    });
  });

  it('hands out the specification of a picture', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('figure[data-kind=scatter] .spec').first().click(),
    ]);
    expect(download.suggestedFilename()).toBe('figure-scatter-first-before.vl.json');
    const spec = JSON.parse(await readFile(await download.path(), 'utf8')) as { layer: unknown[] };
    expect(spec.layer).toHaveLength(4);
  });

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    beforeEach(async () => {
      await page.close();
      await open({ colorScheme });
    });
    it('is readable: text, marks, notes and pictures keep 4.5 : 1', async () => {
      const pairs = await textColors(page);
      expect(pairs.map(({ what }) => what)).toEqual(KINDS);
      const faint = pairs.filter(({ text, behind }) => contrast(text, behind) < 4.5);
      expect(faint).toEqual([]);
    });
    it('has a paper of its colour', async () => {
      const [title] = await textColors(page);
      expect(contrast(title!.behind, colorScheme === 'light' ? [255, 255, 255] : [0, 0, 0])).toBeLessThan(
        1.25,
      );
    });
  });

  it('changes colours at the press of a button', async () => {
    const paper = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await paper();
    await page.click('#theme');
    expect(await paper()).not.toBe(light);
    await page.click('#theme');
    expect(await paper()).toBe(light);
  });

  it('fits a phone: nothing but tables is wider than the screen', async () => {
    await page.close();
    await open({ viewport: { width: 390, height: 844 } });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
  });

  it('without scripts still shows tables and the pictures of every split', async () => {
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(address);
    expect(await plain.locator('figure[data-kind=scatter] svg').count()).toBe(4);
    expect(await plain.locator('.panel').last().isVisible()).toBe(true);
    expect(await plain.locator('.tabs').isVisible()).toBe(false);
    await plain.close();
  });
});

/** Kinds of elements that hold text. */
const KINDS = [
  'h1',
  '.note',
  'nav a',
  '.headline .what',
  '.headline .better, .headline .worse, .headline .same',
  'thead th',
  'td',
  'td small',
  'td.better, td.worse',
  'summary',
  '.controls label',
  '.controls select',
  '#count',
  '.key mark.right',
  '.key mark.wrong',
  '.card mark',
  '.card dt',
  '.card .name',
  '.tabs [aria-selected=true]',
  'figcaption small',
  'svg text',
];

interface TextColors {
  what: string;
  text: number[];
  behind: number[];
}

/** Colours of one element of each kind, and of what lies behind it. Runs in the page, hence as text. */
const textColors = (page: Page): Promise<TextColors[]> =>
  page.evaluate<TextColors[]>(`(() => {
    const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
    const behindOf = (start) => {
      for (let node = start; node !== null; node = node.parentElement) {
        const color = numbers(getComputedStyle(node).backgroundColor);
        if (color.length === 3 || color[3] === 1) return color.slice(0, 3);
      }
      return [255, 255, 255];
    };
    return ${JSON.stringify(KINDS)}.flatMap((what) => {
      const node = document.querySelector(what);
      if (node === null) return [];
      const style = getComputedStyle(node);
      const color = node instanceof SVGElement ? style.fill : style.color;
      return [{ what, text: numbers(color).slice(0, 3), behind: behindOf(node) }];
    });
  })()`);
