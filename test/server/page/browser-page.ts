import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import type { StandIn } from './scoring-stand-in.ts';

export interface OpenPage {
  page: Page;
  /** Errors and warnings of the console. */
  complaints: string[];
  /** Every address that the page asked for. */
  requests: string[];
}

/** Opens the page of a server and notes all that it asks and complains of. */
export async function openPage(
  browser: Browser,
  { address }: Pick<StandIn, 'address'>,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<OpenPage> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(address);
  await page.locator('html[data-ready=true]').waitFor();
  return { page, complaints, requests };
}

export interface Upload {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** A picture of one grey: its mean is known. */
export async function greyPicture(name: string, grey: number, width = 64, height = 48): Promise<Upload> {
  const buffer = await sharp({
    create: { width, height, channels: 3, background: { r: grey, g: grey, b: grey } },
  })
    .png()
    .toBuffer();
  return { name, mimeType: 'image/png', buffer };
}

/** Gives files to the page by a drop or a paste, as the browser itself would. */
export async function giveFiles(
  page: Page,
  kind: 'drop' | 'paste',
  uploads: readonly Upload[],
): Promise<void> {
  const files = uploads.map(({ name, mimeType, buffer }) => ({
    name,
    mimeType,
    base64: buffer.toString('base64'),
  }));
  await page.evaluate(`(async () => {
    const transfer = new DataTransfer();
    for (const { name, mimeType, base64 } of ${JSON.stringify(files)}) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: mimeType }));
    }
    const event = ${
      kind === 'drop'
        ? "new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true })"
        : "new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true })"
    };
    document.body.dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error('the page left the files to the browser');
  })()`);
}

/** The card of a picture by its name. */
export const cardOf = (page: Page, name: string) => page.getByRole('article', { name, exact: true });

/** Waits until no picture is under way. */
export const allDone = (page: Page) => page.locator('#results:visible #overall').waitFor({ state: 'hidden' });
