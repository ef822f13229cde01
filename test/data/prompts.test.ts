import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InputError, QUALITY_LEVELS, StorageError } from '../../src/core/index.ts';
import {
  loadPrompt,
  loadShippedPrompt,
  PROMPTS_FOLDER,
  parsePrompt,
  renderPrompt,
  SEVERITY_WORDS,
} from '../../src/data/index.ts';

const content = '---\nid: a/b\nversion: 2\nslots: [x]\n---\nHello {{x}}.\n';
const shipped = (await readdir(PROMPTS_FOLDER, { recursive: true })).filter((name) => name.endsWith('.md'));

describe('shipped prompts', () => {
  it('are there', () => {
    expect(shipped.map((name) => name.replaceAll('\\', '/'))).toEqual(
      expect.arrayContaining([
        'judge/description.v1.md',
        'student/caption.v1.md',
        'student/quality.v1.md',
        'teacher/quality.v1.md',
      ]),
    );
  });

  it.each(shipped)('%s loads and renders with its slots filled', async (name) => {
    const prompt = await loadPrompt(join(PROMPTS_FOLDER, name));
    const values = Object.fromEntries(prompt.slots.map((slot) => [slot, `<${slot}>`]));
    const { text } = renderPrompt(prompt, values);
    expect(prompt.slots.filter((slot) => !text.includes(`<${slot}>`))).toEqual([]);
    expect(text).not.toContain('{{');
  });

  it.each(['student/quality.v1', 'student/caption.v1'])('%s has at most ten words', async (name) => {
    const { template } = await loadShippedPrompt(name);
    expect(template.split(/\s+/).length).toBeLessThanOrEqual(10);
  });

  it('the teacher is told the very words that reasoning is read by', async () => {
    const { template } = await loadShippedPrompt('teacher/quality.v1');
    expect(template).toContain(Object.values(SEVERITY_WORDS).join(', '));
    expect(template).toContain(QUALITY_LEVELS.join(', '));
  });
});

describe('parsePrompt', () => {
  it('hashes the file as it stands (sha256sum)', () => {
    expect(parsePrompt(content, 'x')).toEqual({
      id: 'a/b',
      version: 2,
      hash: '33c5ad78dad390290bd6c8501b726fe103576a098f37b920d433e24ec57cd679',
      slots: ['x'],
      template: 'Hello {{x}}.',
    });
  });

  it('gives a checkout with CRLF line ends the same hash', () => {
    expect(parsePrompt(content.replaceAll('\n', '\r\n'), 'x')).toEqual(parsePrompt(content, 'x'));
  });

  it.each([
    ['no front matter', 'Hello'],
    ['an unknown key', content.replace('version', 'extra: 1\nversion')],
    ['a missing key', content.replace('version: 2\n', '')],
    ['an id with odd characters', content.replace('a/b', 'a b')],
    ['a version of 0', content.replace('2', '0')],
    ['broken YAML', content.replace('[x]', '[x')],
    ['a declared slot that the body lacks', content.replace('[x]', '[x, y]')],
    ['a slot used but not declared', content.replace('[x]', '[]')],
    ['an empty body', '---\nid: a\nversion: 1\nslots: []\n---\n\n'],
  ])('refuses %s', (_name, text) => {
    expect(() => parsePrompt(text, 'x')).toThrow(InputError);
  });
});

describe('loadPrompt', () => {
  it('refuses a file whose name and front matter differ', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'prompt-')), 'b.v3.md');
    await writeFile(path, content);
    await expect(loadPrompt(path)).rejects.toThrow(/a\/b version 2/);
  });

  it('reports a missing file as a storage error', async () => {
    await expect(loadPrompt(join(tmpdir(), 'absent', 'a.v1.md'))).rejects.toThrow(StorageError);
  });

  it.each(['student/absent.v1', '../package', 'student/quality.v1.md', ''])(
    'refuses a shipped prompt "%s" that does not exist, and lists those that do',
    async (name) => {
      await expect(loadShippedPrompt(name)).rejects.toMatchObject({
        code: 'CONFIG',
        hint: `allowed are ${shipped
          .map((file) => file.replaceAll('\\', '/').replace(/\.md$/, ''))
          .sort()
          .join(', ')}`,
      });
    },
  );

  it('takes the text of the file, not of the name', async () => {
    const prompt = await loadShippedPrompt('student/quality.v1');
    const file = await readFile(join(PROMPTS_FOLDER, 'student/quality.v1.md'), 'utf8');
    expect(file.trimEnd().endsWith(`---\n${prompt.template}`)).toBe(true);
  });
});

describe('renderPrompt', () => {
  const prompt = parsePrompt(content, 'x');

  it('fills each slot once and does not expand what was filled in', () => {
    expect(renderPrompt(prompt, { x: '{{x}} $1 $&' }).text).toBe('Hello {{x}} $1 $&.');
  });

  it.each([
    ['a missing slot', {}, /missing slots \[x\]/],
    ['an unknown slot', { x: '1', y: '2' }, /unknown slots \[y\]/],
  ])('refuses %s', (_name, values, message) => {
    expect(() => renderPrompt(prompt, values)).toThrow(message);
  });
});
