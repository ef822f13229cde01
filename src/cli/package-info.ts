import { readFileSync } from 'node:fs';

/** This package's own package.json: two folders up, from the sources as from the built files. */
export function packageInfo(): { version: string } {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
}
