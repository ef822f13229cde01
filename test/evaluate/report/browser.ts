import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where Chromium usually lies, after the place that CHROMIUM_PATH names. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** A browser on this machine, or undefined where there is none. */
export function findChromium(): string | undefined {
  const given = process.env.CHROMIUM_PATH;
  return [...(given === undefined ? [] : [given]), ...PLACES].find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const launchChromium = (executablePath: string): Promise<Browser> =>
  // Without a sandbox, because containers lack the rights for one; the only page it opens is our own.
  chromium.launch({ executablePath, args: ['--no-sandbox'] });

/** WCAG 2.1 contrast of two opaque colours in 0..255: 1 to 21. */
export function contrast(one: readonly number[], other: readonly number[]): number {
  const luminance = (color: readonly number[]): number => {
    const [r, g, b] = color.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
