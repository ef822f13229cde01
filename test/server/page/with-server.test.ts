import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScorer } from '../../../src/scoring/index.ts';
import { type RunningServer, startServer } from '../../../src/server/index.ts';
import { findChromium, launchChromium } from '../../evaluate/report/browser.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../../train/stage-fixture.ts';
import { allDone, cardOf, openPage } from './browser-page.ts';

const executable = findChromium();
if (executable === undefined) {
  console.log('skipped: no Chromium on this machine; set CHROMIUM_PATH to check the page in one');
}

describe.skipIf(executable === undefined)('the page of the server itself', () => {
  let fixture: StageFixture;
  let model: string;
  let server: RunningServer;
  let browser: Browser;

  beforeAll(async () => {
    fixture = await createStageFixture();
    model = await teachContract(fixture);
    server = await startServer({
      model,
      tokens: ['let-me-in-please'],
      settings: { port: 0, threads: 1, warmUp: false },
    });
    browser = await launchChromium(executable!);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await fixture?.remove();
  });

  it('asks for the token, then shows what the library says of the same picture', async () => {
    const file = join(fixture.data, (await records(fixture.data))[0]!.image);
    const scorer = await createScorer({ model, mode: 'expected' });
    const { score, level, reasoning, interval } = await scorer.score(file);
    scorer.close();
    const { page } = await openPage(browser, { address: `${server.url}/` });
    await page.setInputFiles('#file', [
      { name: 'one.png', mimeType: 'image/png', buffer: await readFile(file) },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') },
    ]);
    await page.locator('#token-why', { hasText: 'The server asks for an access token.' }).waitFor();
    await allDone(page);
    await page.fill('#token', 'let-me-in-please');
    await page.keyboard.press('Enter');
    const card = cardOf(page, 'one.png');
    await card.locator('.value').waitFor();
    expect(await card.locator('.value').textContent()).toBe(score!.toFixed(2));
    expect(await card.locator('.level').textContent()).toBe(level);
    expect(await card.locator('.reasoning').textContent()).toBe(reasoning);
    expect(await card.locator('.interval').textContent()).toBe(
      `95 % interval ${interval!.low.toFixed(2)} to ${interval!.high.toFixed(2)}`,
    );
    const failure = cardOf(page, 'notes.txt').locator('.failure');
    await failure.waitFor();
    await allDone(page);
    expect(await failure.textContent()).toBe('This file is not an image that can be read.');
    await page.close();
  });

  it('compares two pictures as the library does', async () => {
    const list = (await records(fixture.data)).slice(0, 2).map(({ image }) => join(fixture.data, image));
    const scorer = await createScorer({ model, mode: 'expected' });
    const { better, difference, interval, probability } = await scorer.compare(list[0]!, list[1]!);
    scorer.close();
    const { page } = await openPage(browser, { address: `${server.url}/` });
    await page.setInputFiles('#file', list);
    await allDone(page);
    await page.fill('#token', 'let-me-in-please');
    await page.keyboard.press('Enter');
    await page.locator('.card .value').nth(1).waitFor();
    // The newest stands first.
    const buttons = page.getByRole('button', { name: /^Compare / });
    await buttons.nth(1).click();
    await page
      .getByRole('button', { name: /^Compare / })
      .first()
      .click();
    const sentence = page.locator('#difference', { hasText: 'scores' });
    await sentence.waitFor();
    const sign = better === 'a' ? 1 : -1;
    const [low, high] = better === 'a' ? [interval!.low, interval!.high] : [-interval!.high, -interval!.low];
    const sure = better === 'a' ? probability! : 1 - probability!;
    const text = await sentence.textContent();
    expect(text).toContain(
      `${better!.toUpperCase()} scores ${(sign * difference!).toFixed(2)} higher than ${better === 'a' ? 'B' : 'A'} (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}).`,
    );
    expect(text).toContain(
      `The model holds ${better!.toUpperCase()} better with probability ${sure.toFixed(2)}.`,
    );
    await page.close();
  });
});
