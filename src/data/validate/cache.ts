import { appendFile, readFile, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { asStorageError, makeFolder } from '../../core/index.ts';
import { FACTS_VERSION, type ImageFacts, imageFactsSchema } from './image-facts.ts';

const entrySchema = z.strictObject({
  version: z.literal(FACTS_VERSION),
  path: z.string(),
  size: z.number(),
  mtimeMs: z.number(),
  pixelLimit: z.number(),
  facts: imageFactsSchema,
});
type Entry = z.infer<typeof entrySchema>;

/** Entries are written in groups of this many: what a killed process has to look at again. */
const GROUP = 64;

/**
 * What is known of image files, in a file that only grows: one line an image, keyed by path, size, time of change
 * and the pixel limit. A line cut by a kill is dropped; of several lines for one path the last counts.
 */
export class FactsCache {
  readonly #path: string;
  readonly #entries: Map<string, Entry>;
  readonly #pending: Entry[] = [];
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, entries: Map<string, Entry>) {
    this.#path = path;
    this.#entries = entries;
  }

  static async open(path: string): Promise<FactsCache> {
    const entries = new Map<string, Entry>();
    let text = '';
    try {
      await makeFolder(dirname(path));
      text = await readFile(path, 'utf8');
      // The next line must not be glued to a cut one.
      const whole = text.lastIndexOf('\n') + 1;
      if (whole < text.length) await truncate(path, Buffer.byteLength(text.slice(0, whole)));
      text = text.slice(0, whole);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw asStorageError(error, `reading ${path}`);
    }
    for (const line of text.split('\n')) {
      const parsed = entrySchema.safeParse(asJson(line));
      if (parsed.success) entries.set(parsed.data.path, parsed.data);
    }
    return new FactsCache(path, entries);
  }

  find(path: string, size: number, mtimeMs: number, pixelLimit: number): ImageFacts | undefined {
    const entry = this.#entries.get(path);
    const isSame =
      entry !== undefined &&
      entry.size === size &&
      entry.mtimeMs === mtimeMs &&
      entry.pixelLimit === pixelLimit;
    return isSame ? entry.facts : undefined;
  }

  async add(
    path: string,
    size: number,
    mtimeMs: number,
    pixelLimit: number,
    facts: ImageFacts,
  ): Promise<void> {
    this.#pending.push({ version: FACTS_VERSION, path, size, mtimeMs, pixelLimit, facts });
    if (this.#pending.length >= GROUP) await this.flush();
  }

  /** Writes what is pending. Writers wait for one another, so lines never mix. */
  async flush(): Promise<void> {
    const lines = this.#pending
      .splice(0)
      .map((entry) => `${JSON.stringify(entry)}\n`)
      .join('');
    if (lines !== '') this.#writing = this.#writing.then(() => appendFile(this.#path, lines));
    try {
      await this.#writing;
    } catch (error) {
      throw asStorageError(error, `writing ${this.#path}`);
    }
  }
}

function asJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // Not an entry: the image is looked at again.
  }
}
