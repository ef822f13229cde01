import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { asStorageError, ConfigError, InputError } from '../core/index.ts';

/**
 * A prompt file is Markdown with front matter {id, version, slots} and a body with `{{slot}}` places. It lies at
 * `<id>.v<version>.md`. Id, version and hash go into every data set, checkpoint and result made with it.
 */
export interface Prompt {
  id: string;
  version: number;
  /** SHA-256 of the file with line ends as LF, hexadecimal. */
  hash: string;
  slots: readonly string[];
  template: string;
}

export interface RenderedPrompt {
  id: string;
  version: number;
  hash: string;
  text: string;
}

/** The folder of the prompts that come with the package. */
export const PROMPTS_FOLDER: string = fileURLToPath(new URL('../../prompts', import.meta.url));

const SLOT = /\{\{([^{}]*)\}\}/g;

const frontMatterSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+(?:\/[a-z0-9-]+)*$/, 'allowed are names of a-z, 0-9 and -, joined by /'),
  version: z.int().positive(),
  slots: z.array(z.string().regex(/^[a-zA-Z]\w*$/, 'a slot is one identifier')),
});

/** Parses the content of a prompt file. A front matter or slot that does not fit is an InputError. */
export function parsePrompt(content: string, path: string): Prompt {
  const text = content.replaceAll('\r\n', '\n');
  const match = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text);
  if (match === null) {
    throw new InputError(`prompt ${path} has no front matter`, {
      hint: 'start the file with ---, then id, version and slots, then --- and the prompt',
    });
  }
  let header: unknown;
  try {
    header = parseYaml(match[1] ?? '');
  } catch (error) {
    throw new InputError(`prompt ${path}: the front matter is not YAML: ${(error as Error).message}`);
  }
  const parsed = frontMatterSchema.safeParse(header);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || '(top)'}: ${issue.message}`,
    );
    throw new InputError(`prompt ${path}: front matter: ${problems.join('; ')}`);
  }
  const { id, version, slots } = parsed.data;
  const template = (match[2] ?? '').trim();
  const used = [...new Set([...template.matchAll(SLOT)].map((found) => found[1] ?? ''))].sort();
  if (template === '' || used.join() !== [...slots].sort().join()) {
    throw new InputError(
      `prompt ${path} declares the slots [${slots.join(', ')}], its body uses [${used.join(', ')}]`,
      { hint: 'declare each {{slot}} of the body once, and write a body' },
    );
  }
  return { id, version, hash: createHash('sha256').update(text).digest('hex'), slots, template };
}

/** Loads a prompt file by path. */
export async function loadPrompt(path: string): Promise<Prompt> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    throw asStorageError(error, `reading prompt ${path}`);
  }
  const prompt = parsePrompt(content, path);
  const place = `${prompt.id}.v${prompt.version}.md`;
  if (!path.replaceAll('\\', '/').endsWith(place)) {
    throw new InputError(`prompt ${path} calls itself ${prompt.id} version ${prompt.version}`, {
      hint: `a prompt lies at <id>.v<version>.md: move it to ${place} or mend its front matter`,
    });
  }
  return prompt;
}

/** Names of the prompts that come with the package, sorted. */
export async function shippedPrompts(): Promise<string[]> {
  let files: string[];
  try {
    files = await readdir(PROMPTS_FOLDER, { recursive: true });
  } catch (error) {
    throw asStorageError(error, `reading the prompts in ${PROMPTS_FOLDER}`);
  }
  return files
    .filter((file) => /\.v\d+\.md$/.test(file))
    .map((file) => file.replaceAll('\\', '/').slice(0, -'.md'.length))
    .sort();
}

/** Loads a prompt that comes with the package, for example `student/quality.v1`. Another name is a ConfigError. */
export async function loadShippedPrompt(name: string): Promise<Prompt> {
  const known = await shippedPrompts();
  if (!known.includes(name)) {
    throw new ConfigError(`there is no prompt "${name}"`, { hint: `allowed are ${known.join(', ')}` });
  }
  return loadPrompt(`${PROMPTS_FOLDER}/${name}.md`);
}

/** Fills the slots, each exactly. Missing or unknown slots are an InputError. Values are not expanded again. */
export function renderPrompt(prompt: Prompt, values: Readonly<Record<string, string>> = {}): RenderedPrompt {
  const given = Object.keys(values);
  const missing = prompt.slots.filter((slot) => !given.includes(slot));
  const unknown = given.filter((slot) => !prompt.slots.includes(slot));
  if (missing.length > 0 || unknown.length > 0) {
    throw new InputError(
      `prompt ${prompt.id}.v${prompt.version}: missing slots [${missing.join(', ')}], unknown slots [${unknown.join(', ')}]`,
      { hint: `it takes exactly [${prompt.slots.join(', ')}]` },
    );
  }
  const text = prompt.template.replace(SLOT, (_place, slot: string) => values[slot] ?? '');
  return { id: prompt.id, version: prompt.version, hash: prompt.hash, text };
}
