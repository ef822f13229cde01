import { createHash } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findChromium, launchChromium } from '../../evaluate/report/browser.ts';
import { allDone, cardOf, giveFiles, greyPicture, openPage, type Upload } from './browser-page.ts';
import { type StandIn, startStandIn } from './scoring-stand-in.ts';

const executable = findChromium();
if (executable === undefined) {
  console.log('skipped: no Chromium on this machine; set CHROMIUM_PATH to check the page in one');
}

const HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> & "quotes"';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe.skipIf(executable === undefined)('the page in Chromium', () => {
  let browser: Browser;
  let server: StandIn;
  let page: Page;
  let complaints: string[];
  let requests: string[];

  const open = async (options: Parameters<typeof openPage>[2] = {}) => {
    ({ page, complaints, requests } = await openPage(browser, server, options));
  };
  const add = (...uploads: Upload[]) => page.setInputFiles('#file', uploads);
  const score = async (...uploads: Upload[]) => {
    await add(...uploads);
    await allDone(page);
  };
  const said = () => page.locator('#live').textContent();
  const names = () => page.locator('.card h3').allTextContents();
  const focused = () => page.evaluate<string>('document.activeElement.textContent');

  beforeAll(async () => {
    browser = await launchChromium(executable!);
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    server = await startStandIn({ maxBytes: 1_000_000, model: 'stand-in' });
    await open();
  });
  afterEach(async () => {
    await page.close();
    await server.stop();
  });

  describe('a picture', () => {
    it('is decoded by the server and shown with score, level, interval and size', async () => {
      // 1 + 4 * 100 / 255 = 2.5686: from 1.8 to 2.6 is "poor".
      const picture = await greyPicture('grey.png', 100);
      await score(picture);
      const card = cardOf(page, 'grey.png');
      expect(await card.locator('.value').textContent()).toBe('2.57');
      expect(await card.locator('.level').textContent()).toBe('poor');
      expect(await card.locator('.interval').textContent()).toBe('95 % interval 2.17 to 2.97');
      expect(await card.locator('.size').textContent()).toBe(`64 × 48 · ${picture.buffer.length} B`);
      expect(await card.locator('.reasoning').textContent()).toContain('a picture of 64 by 48');
      const label = await card.getByRole('img', { name: 'scale' }).getAttribute('aria-label');
      expect(label).toBe('2.57 on a scale from 1 to 5, 95 % interval 2.17 to 2.97');
    });

    it('stands on the scale where its score is, with the interval around it', async () => {
      await score(await greyPicture('grey.png', 100));
      const box = async (selector: string) => (await page.locator(`.card ${selector}`).boundingBox())!;
      const [lane, dot, band] = [await box('.lane'), await box('.dot'), await box('.band')];
      const at = (x: number) => 1 + (4 * (x - lane.x)) / lane.width;
      expect(at(dot.x + dot.width / 2)).toBeCloseTo(2.5686, 1);
      expect(at(band.x)).toBeCloseTo(2.1686, 1);
      expect(at(band.x + band.width)).toBeCloseTo(2.9686, 1);
    });

    it('arrives at both endpoints byte for byte', async () => {
      const picture = await greyPicture('grey.png', 77);
      await score(picture);
      expect(server.arrivals.find(({ path }) => path === '/v1/score')?.sha256).toBe(sha256(picture.buffer));
      for (const { sha256: hash } of server.arrivals) expect(hash).toBe(sha256(picture.buffer));
    });

    it.each(['jpeg', 'webp', 'avif', 'gif'] as const)('as %s is shown and scored', async (format) => {
      const buffer = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#808080' } })
        .toFormat(format)
        .toBuffer();
      await score({ name: `grey.${format}`, mimeType: `image/${format}`, buffer });
      const card = cardOf(page, `grey.${format}`);
      // 1 + 4 * 128 / 255 = 3.0078
      expect(Number(await card.locator('.value').textContent())).toBeCloseTo(3.01, 1);
      expect(await card.locator('.size').textContent()).toContain('40 × 30');
    });

    it('that the browser cannot show is scored all the same', async () => {
      const { data } = await sharp({ create: { width: 20, height: 20, channels: 3, background: '#fff' } })
        .tiff()
        .toBuffer({ resolveWithObject: true });
      await score({ name: 'white.tiff', mimeType: 'image/tiff', buffer: data });
      const card = cardOf(page, 'white.tiff');
      expect(await card.locator('.value').textContent()).toBe('5.00');
      expect(await card.locator('.no-preview').textContent()).toBe('no preview');
    });

    it('names its distortions with their severities', async () => {
      await score(await greyPicture('grey.png', 100));
      const list = page.getByRole('list', { name: 'distortions' });
      const labels = await list
        .getByRole('listitem')
        .evaluateAll((items) => items.map((item) => item.getAttribute('aria-label')));
      expect(labels).toEqual([
        'gaussian blur, moderate (3 of 5)',
        'jpeg compression, strong (4 of 5)',
        'haze',
      ]);
      expect(await list.locator('li').first().locator('.meter .on').count()).toBe(3);
    });
  });

  it('asks nobody else for anything, complains of nothing and stores nothing', async () => {
    await score(await greyPicture('a.png', 50), await greyPicture('b.png', 200));
    await page.getByRole('button', { name: 'Compare a.png' }).click();
    await page.getByRole('button', { name: 'Compare b.png' }).click();
    await page.click('#theme');
    expect(complaints).toEqual([]);
    const foreign = requests.filter((url) => !url.startsWith(server.address) && !/^(blob|data):/.test(url));
    expect(foreign).toEqual([]);
    const stored = `(async () => [localStorage.length, sessionStorage.length, document.cookie,
      (await indexedDB.databases()).length, (await caches.keys()).length])()`;
    expect(await page.evaluate(stored)).toEqual([0, 0, '', 0, 0]);
    await page.reload();
    expect(await names()).toEqual([]);
  });

  describe('the reasoning', () => {
    it('is shown as it is written, and no number before the score is there', async () => {
      let release: (value?: unknown) => void = () => undefined;
      server.behaviour.gate = new Promise((resolve) => {
        release = resolve;
      });
      server.behaviour.pause = 20;
      await add(await greyPicture('grey.png', 100));
      const card = cardOf(page, 'grey.png');
      await card.locator('.streaming', { hasText: 'moderate soft blur' }).waitFor();
      expect(await card.getAttribute('aria-busy')).toBe('true');
      await card.locator('.state', { hasText: 'Deciding on a score' }).waitFor();
      expect(await card.locator('.streaming').textContent()).toBe(
        'a picture of 64 by 48 with moderate soft blur and strong blocking artifacts.',
      );
      expect(await card.textContent()).not.toContain('2.57');
      release();
      await card.locator('.value').waitFor();
      expect(await card.locator('.value').textContent()).toBe('2.57');
      expect(await card.getAttribute('aria-busy')).toBe('false');
    });

    it.each(['none', 'cut'] as const)(
      'of a server whose stream is %s comes with the score',
      async (stream) => {
        server.behaviour.stream = stream;
        await score(await greyPicture('grey.png', 100));
        const card = cardOf(page, 'grey.png');
        expect(await card.locator('.value').textContent()).toBe('2.57');
        expect(await card.locator('.reasoning').textContent()).toContain('strong blocking artifacts.');
      },
    );

    it('is not waited for when the score is there first', async () => {
      server.behaviour.pause = 60_000;
      await score(await greyPicture('grey.png', 100));
      expect(await cardOf(page, 'grey.png').locator('.value').textContent()).toBe('2.57');
    });
  });

  describe('several pictures', () => {
    it('are counted while they are scored', async () => {
      let release: (value?: unknown) => void = () => undefined;
      server.behaviour.gate = new Promise((resolve) => {
        release = resolve;
      });
      await add(...(await Promise.all([10, 20, 30].map((grey) => greyPicture(`${grey}.png`, grey)))));
      expect(await page.locator('#count').textContent()).toBe('0 of 3 pictures done');
      expect(await page.locator('.card[data-state=working]').count()).toBe(2);
      release();
      await allDone(page);
      expect(await page.locator('#count').textContent()).toBe('3 pictures');
    });

    it('are sorted by score, those without one last', async () => {
      const text = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') };
      await score(
        await greyPicture('mid.png', 120),
        text,
        await greyPicture('dark.png', 10),
        await greyPicture('light.png', 240),
      );
      expect(await names()).toEqual(['light.png', 'dark.png', 'notes.txt', 'mid.png']);
      await page.selectOption('#sort', 'worst');
      expect(await names()).toEqual(['dark.png', 'mid.png', 'light.png', 'notes.txt']);
      await page.selectOption('#sort', 'best');
      expect(await names()).toEqual(['light.png', 'mid.png', 'dark.png', 'notes.txt']);
    });

    it.each(['drop', 'paste'] as const)('come by %s', async (kind) => {
      await giveFiles(page, kind, [await greyPicture('a.png', 0), await greyPicture('b.png', 255)]);
      await allDone(page);
      expect(await page.locator('.value').allTextContents()).toEqual(['5.00', '1.00']);
      expect(await names()).toEqual(
        kind === 'drop' ? ['b.png', 'a.png'] : ['pasted picture 2', 'pasted picture 1'],
      );
    });
  });

  describe('a failure is told in a sentence', () => {
    const error = (message: string) => JSON.stringify({ error: { code: 'SOME', message, hint: 'do this' } });
    it.each([
      [400, 'odd', {}, 'The server does not understand this request.'],
      [403, 'no', {}, 'The server does not allow this.'],
      [413, 'big', {}, 'This picture is too large: it has 144 B. Make it smaller and add it again.'],
      [422, 'strip', {}, 'The server cannot use this picture.'],
      [429, 'busy', { 'retry-after': '300' }, 'The server is busy. Try again in 5 minutes.'],
      [500, 'oops', {}, 'The server failed (HTTP 500). Try again in a while.'],
      [503, 'soon', { 'retry-after': '7' }, 'The server is not ready. Try again in 7 seconds.'],
      [504, 'late', {}, 'The server did not finish in time. Try again, or with a smaller picture.'],
    ])('HTTP %i', async (status, message, headers, sentence) => {
      server.behaviour.refusals.push({
        status,
        body: error(message),
        headers: headers as Record<string, string>,
      });
      const picture = await greyPicture('grey.png', 100);
      await score(picture);
      const expected = sentence.replace('144 B', `${picture.buffer.length} B`);
      expect(await page.locator('.failure').textContent()).toBe(expected);
      expect(await page.locator('.said').textContent()).toBe(`The server says: ${message}; do this`);
      expect(await page.locator('.value').count()).toBe(0);
    });

    it('a file that is no image', async () => {
      await score({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
      expect(await page.locator('.failure').textContent()).toBe(
        'This file is not an image that can be read.',
      );
      expect(await page.locator('.said').textContent()).toContain('image is not an image that can be read');
    });

    it('an empty file, and one beyond the limit, without being sent', async () => {
      await score(
        { name: 'empty.png', mimeType: 'image/png', buffer: Buffer.alloc(0) },
        { name: 'huge.png', mimeType: 'image/png', buffer: Buffer.alloc(1_500_000) },
      );
      expect(await cardOf(page, 'empty.png').locator('.failure').textContent()).toBe(
        'This file is empty (0 bytes).',
      );
      expect(await cardOf(page, 'huge.png').locator('.failure').textContent()).toBe(
        'This picture is too large: it has 1.5 MB, the server takes at most 1 MB. Make it smaller and add it again.',
      );
      expect(server.arrivals).toEqual([]);
    });

    it.each([
      ['no JSON', '<html>'],
      ['a score that is text', '{"status":"ok","score":"4"}'],
      ['a score of 7', '{"status":"ok","score":7}'],
      ['no status', '{"score":3}'],
    ])('a reply with %s', async (_what, body) => {
      server.behaviour.refusals.push({ status: 200, body });
      await score(await greyPicture('grey.png', 100));
      expect(await page.locator('.failure').textContent()).toBe(
        'The reply of the server cannot be read, so there is no score. Try again.',
      );
      expect(await page.locator('.value').count()).toBe(0);
    });

    it('a server that is gone; trying again scores the picture', async () => {
      await page.route('**/v1/score', (route) => route.abort());
      await score(await greyPicture('grey.png', 100));
      expect(await page.locator('.failure').textContent()).toContain('The server cannot be reached.');
      await page.unroute('**/v1/score');
      await page.getByRole('button', { name: 'Try again grey.png' }).click();
      expect(await page.locator('.value').textContent()).toBe('2.57');
    });

    it('a busy server is asked again after the time it names', async () => {
      server.behaviour.refusals.push({ status: 429, body: '', headers: { 'retry-after': '1' } });
      await add(await greyPicture('grey.png', 100));
      await page.locator('.state', { hasText: 'The server is busy. Trying again in 1 second.' }).waitFor();
      await allDone(page);
      expect(await page.locator('.value').textContent()).toBe('2.57');
    });
  });

  describe('an answer without a score', () => {
    it.each([
      ['unparsable', 'No score. The answer of the model holds no score that can be read.'],
      ['out-of-range', 'No score. The model wrote a score outside 1 to 5, so it does not count.'],
      ['truncated', 'No score. The answer of the model was cut off before a score.'],
    ])('%s is told as such, with what the model wrote, and is no number', async (status, sentence) => {
      server.behaviour.change = {
        status,
        score: null,
        level: null,
        text: 'a score of 4.20',
        distortions: [],
      };
      await score(await greyPicture('grey.png', 100));
      const card = cardOf(page, 'grey.png');
      expect(await card.locator('.failure').textContent()).toBe(sentence);
      expect(await card.locator('.value').count()).toBe(0);
      expect(await card.locator('.scale').count()).toBe(0);
      expect(await card.locator('pre').textContent()).toBe('a score of 4.20');
      expect(await card.getByRole('button', { name: 'Compare' }).count()).toBe(0);
    });
  });

  describe('a server that asks for a token', () => {
    beforeEach(() => {
      server.behaviour.token = 'right';
    });

    it('gets the one that is typed, for all pictures, and it is kept nowhere', async () => {
      await score(await greyPicture('a.png', 0), await greyPicture('b.png', 255));
      expect(await page.locator('#token-why').textContent()).toContain(
        'The server asks for an access token.',
      );
      expect(await page.evaluate('document.activeElement.id')).toBe('token');
      await page.keyboard.type('right');
      await page.keyboard.press('Enter');
      await page.locator('.value').nth(1).waitFor();
      expect(await page.locator('.value').allTextContents()).toEqual(['5.00', '1.00']);
      expect(await page.locator('#token-form').isVisible()).toBe(false);
      expect(await page.locator('#token').inputValue()).toBe('');
      expect(server.arrivals.at(-1)?.authorization).toBe('Bearer right');
      expect(
        await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'),
      ).toBe(0);
    });

    it('says so when it is not accepted', async () => {
      await score(await greyPicture('a.png', 0));
      await page.fill('#token', 'wrong');
      await page.keyboard.press('Enter');
      await page
        .locator('#token-why', { hasText: 'The server does not accept this access token.' })
        .waitFor();
    });
  });

  describe('the comparison', () => {
    beforeEach(async () => {
      await score(
        await greyPicture('dark.png', 51),
        await greyPicture('light.png', 204),
        await greyPicture('mid.png', 191),
      );
    });
    const verdict = (sentence: string) =>
      page.getByText(sentence, { exact: true }).and(page.locator('#difference')).waitFor();
    const compare = (name: string) =>
      cardOf(page, name)
        .getByRole('button', { name: /^Compare/ })
        .click();

    it('says what the server says of the two: which scores higher, by how much, and how sure that is', async () => {
      // 1 + 4 * 51 / 255 = 1.8, 1 + 4 * 204 / 255 = 4.2; intervals of 0.4 to both sides.
      await compare('dark.png');
      expect(await page.locator('#hint').isVisible()).toBe(true);
      await compare('light.png');
      // The server: a - b is -2.4, from -3.0 to -1.9, P(a is better) = 0.2.
      await verdict(
        'B scores 2.40 higher than A (95 % interval 1.90 to 3.00). The model holds B better with probability 0.80.',
      );
      expect(server.arrivals.filter(({ path }) => path === '/v1/compare')).toHaveLength(2);
      expect(await page.locator('.side .file').allTextContents()).toEqual(['dark.png', 'light.png']);
      expect(await page.locator('#pair-scale .scale').getAttribute('aria-label')).toBe(
        'A: 1.80 on a scale from 1 to 5, 95 % interval 1.40 to 2.20; B: 4.20 on a scale from 1 to 5, 95 % interval 3.80 to 4.60',
      );
      await page.click('#swap');
      await verdict(
        'A scores 2.40 higher than B (95 % interval 1.90 to 3.00). The model holds A better with probability 0.80.',
      );
      // Turned round, the same answer holds.
      expect(server.arrivals.filter(({ path }) => path === '/v1/compare')).toHaveLength(2);
    });

    it('of two close ones says that the order is uncertain', async () => {
      await compare('light.png');
      await compare('mid.png');
      // 204 - 191 = 13 greys: 4 * 13 / 255 = 0.204.
      await verdict(
        'A scores 0.20 higher than B (95 % interval -0.40 to 0.70). The interval holds 0, so the order is uncertain. The model holds A better with probability 0.90.',
      );
    });

    it('tells why there is none, and asks again on request', async () => {
      server.behaviour.refusals.push({ status: 503, body: '' });
      await compare('dark.png');
      await compare('light.png');
      await verdict('No comparison. The server is not ready. Try again in a while.');
      await page.click('#compare-again');
      await page.locator('#difference', { hasText: 'B scores 2.40 higher than A' }).waitFor();
      expect(await page.locator('#compare-again').isVisible()).toBe(false);
    });

    it('takes a third picture in place of the first, and ends where it began', async () => {
      await compare('dark.png');
      await compare('light.png');
      await compare('mid.png');
      expect(await page.locator('.side .file').allTextContents()).toEqual(['light.png', 'mid.png']);
      await page.click('#end-comparison');
      expect(await page.locator('#comparison').isVisible()).toBe(false);
      expect(
        await page.evaluate('document.activeElement.closest(".card").querySelector("h3").textContent'),
      ).toBe('mid.png');
    });

    it('ends when one of the two is removed', async () => {
      await compare('dark.png');
      await compare('light.png');
      await page.getByRole('button', { name: 'Remove light.png' }).click();
      expect(await page.locator('#comparison').isVisible()).toBe(false);
    });
  });

  it('copies one result and all of them as JSON', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const clipboard = async () => JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'));
    const text = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') };
    const picture = await greyPicture('grey.png', 51);
    await score(text, picture);
    await page.getByRole('button', { name: 'Copy JSON of grey.png' }).click();
    await page.getByText('Copied', { exact: true }).first().waitFor();
    expect(await clipboard()).toMatchObject({
      file: 'grey.png',
      bytes: picture.buffer.length,
      width: 64,
      height: 48,
      status: 'ok',
      score: 1.8,
      distortions: [{ type: 'gaussianBlur', level: 3 }, { type: 'jpeg', level: 4 }, { type: 'haze' }],
    });
    await page.click('#copy-all');
    await page.locator('#copy-all', { hasText: 'Copied' }).waitFor();
    const all = await clipboard();
    expect(all.map(({ file }: { file: string }) => file)).toEqual(['grey.png', 'notes.txt']);
    expect(all[1].error).toMatchObject({
      code: 'INPUT',
      message: 'This file is not an image that can be read.',
    });
    expect(all[1]).not.toHaveProperty('score');
  });

  it('shows hostile text of names, answers and errors as text', async () => {
    server.behaviour.change = {
      reasoning: HOSTILE,
      text: HOSTILE,
      distortions: [{ type: HOSTILE, level: 2 }],
    };
    server.behaviour.refusals.push({ status: 500, body: JSON.stringify({ error: { message: HOSTILE } }) });
    const good = await greyPicture(`${HOSTILE}.png`, 100);
    await score(good);
    expect(await page.locator('.said').textContent()).toBe(`The server says: ${HOSTILE}`);
    await score(good);
    expect(await page.locator('.reasoning').textContent()).toBe(HOSTILE);
    expect(await page.locator('.card h3').first().textContent()).toBe(`${HOSTILE}.png`);
    expect(await page.evaluate('"pwned" in window')).toBe(false);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  });

  it('cannot be made to read text as markup, even by its own script', async () => {
    const tried = `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'done'; } catch (error) { return error.name; } })()`;
    expect(await page.evaluate(tried)).toBe('TypeError');
  });

  describe('by keyboard and to a screen reader', () => {
    it('is reached by the Tab key in order, each with a visible focus', async () => {
      await score(await greyPicture('grey.png', 100));
      await page.evaluate('document.activeElement.blur(), scrollTo(0, 0)');
      const seen: string[] = [];
      for (let i = 0; i < 10; i++) {
        await page.keyboard.press('Tab');
        seen.push(
          await page.evaluate<string>(
            'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent.slice(0, 30)',
          ),
        );
        expect(
          await page.evaluate('parseFloat(getComputedStyle(document.activeElement).outlineWidth)'),
          seen.at(-1),
        ).toBeGreaterThanOrEqual(2);
      }
      expect(seen).toEqual([
        'To the pictures',
        'switch between light and dark',
        'Choose pictures',
        expect.stringContaining('newest first'),
        'Copy all as JSON',
        'Clear',
        'Whole answer',
        'Compare grey.png',
        'Copy JSON of grey.png',
        'Remove grey.png',
      ]);
    });

    it('tells what happens', async () => {
      await add(await greyPicture('grey.png', 100));
      await expect.poll(said).toContain('grey.png: 2.57 of 5, poor.');
      await add({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
      await expect.poll(said).toContain('notes.txt: This file is not an image that can be read.');
    });

    it('keeps the focus near when a picture is removed', async () => {
      await score(await greyPicture('a.png', 1), await greyPicture('b.png', 2));
      await page.getByRole('button', { name: 'Remove b.png' }).press('Enter');
      expect(await focused()).toBe('a.png');
      await page.getByRole('button', { name: 'Remove a.png' }).press('Enter');
      expect(await focused()).toBe('Choose pictures');
    });
  });
});
