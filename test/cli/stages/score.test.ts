import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { levelOfScore } from '../../../src/core/index.ts';
import { createScorer } from '../../../src/scoring/index.ts';
import { steady } from '../../scoring/steady.ts';
import { createStageFixture, records, type StageFixture, teachContract } from '../../train/stage-fixture.ts';
import { MAIN, runChild, startChild } from '../run-child.ts';

let fixture: StageFixture;
let model: string;
let files: string[];
let broken: string;

const score = (...args: string[]) => runChild(MAIN, 'score', '--threads', '1', '--quiet', ...args);
const withModel = (...args: string[]) => score('--model', model, ...args);
const rowsOf = (stdout: string): Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

beforeAll(async () => {
  fixture = await createStageFixture();
  model = await teachContract(fixture);
  files = (await records(fixture.data)).slice(0, 3).map(({ image }) => join(fixture.data, image));
  broken = fixture.path('broken.jpg');
  const whole = await sharp(files[0]).jpeg().toBuffer();
  await writeFile(broken, whole.subarray(0, whole.length / 2));
});
afterAll(() => fixture.remove());

describe('q-ponder score', () => {
  it('prints the worst picture first, with level and reasoning', async () => {
    const { code, stdout, stderr } = await withModel(...files);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = [
      ...stdout.matchAll(/^(\d\.\d\d) \+-\d\.\d\d {2}(\w+) {2,}(.*)\n {6}(the quality is \w+\.)$/gm),
    ];
    const scores = lines.map(([, value]) => Number(value));
    expect(scores).toHaveLength(3);
    expect(scores).toEqual([...scores].sort((a, b) => a - b));
    expect(lines.map(([, , , file]) => file).sort()).toEqual([...files].sort());
  });

  it('--json prints a row a picture in the order given, as the library scores it', async () => {
    const { code, stdout } = await withModel('--json', '--mode', 'greedy', ...files);
    expect(code).toBe(0);
    const scorer = await createScorer({ model });
    const expected = await scorer.scoreBatch(files);
    scorer.close();
    const rows = rowsOf(stdout).map(({ timings: _, ...row }) => row);
    expect(rows).toEqual(files.map((file, i) => ({ file, ...steady(expected[i]!) })));
  });

  it('takes the pictures of a folder by name, and nothing else in it', async () => {
    const folder = fixture.path('folder');
    await mkdir(folder);
    for (const name of ['b.png', 'a.WEBP']) await sharp(files[0]).toFile(join(folder, name.toLowerCase()));
    await writeFile(join(folder, 'notes.txt'), 'no picture');
    const { code, stdout } = await withModel('--json', folder);
    expect(code).toBe(0);
    expect(rowsOf(stdout).map(({ file }) => file)).toEqual([join(folder, 'a.webp'), join(folder, 'b.png')]);
  });

  it('takes the folders in a folder, but no hidden ones', async () => {
    const folder = fixture.path('tree');
    for (const part of ['b/c', '.hidden']) await mkdir(join(folder, part), { recursive: true });
    const inside = ['z.png', 'b/y.png', 'b/c/x.png', '.hidden/w.png', '.v.png'];
    for (const name of inside) await sharp(files[0]).toFile(join(folder, name));
    const { code, stdout } = await withModel('--json', folder);
    expect(code).toBe(0);
    const found = inside.slice(0, 3).map((name) => join(folder, name));
    expect(rowsOf(stdout).map(({ file }) => file)).toEqual(found);
  });

  it('--csv prints a table with a header, in the order given, bad rows in their place', async () => {
    const { code, stdout } = await withModel('--csv', files[1]!, broken, files[0]!);
    expect(code).toBe(3);
    const [header, ...rows] = stdout.trim().split('\n');
    expect(header).toBe('file,status,score,low,high,level,distortions,reasoning,problem');
    const cells = rows.map((row) => row.split(','));
    expect(cells.map(([file, status]) => [file, status])).toEqual([
      [files[1], 'ok'],
      [broken, 'unreadable'],
      [files[0], 'ok'],
    ]);
    const [, , value, low, high, level] = cells[0]!;
    expect(Number(value)).toBeGreaterThan(Number(low) - 1e-9);
    expect(Number(value)).toBeLessThan(Number(high) + 1e-9);
    expect(level).toBe(levelOfScore(Number(value)));
    expect(rows[1]).toMatch(/,unreadable,,,,,,,.*broken\.jpg is broken/);
  });

  it.each([
    ['lines', '\n'],
    ['zero characters', '\0'],
  ])('- reads paths from standard input, separated by %s', async (_what, separator) => {
    const args = [
      '--import',
      'tsx',
      MAIN,
      'score',
      '--threads',
      '1',
      '--quiet',
      '--model',
      model,
      '--json',
      '-',
    ];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(`${[files[2], files[0]].join(separator)}${separator}`);
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(code).toBe(0);
    expect(rowsOf(stdout).map(({ file }) => file)).toEqual([files[2], files[0]]);
  });

  it('pictures of every kind have a score', async () => {
    const folder = fixture.path('kinds');
    await mkdir(folder);
    const source = () => sharp(files[0]);
    const made: Record<string, Sharp> = {
      'alpha.png': source().ensureAlpha(0.5),
      'cmyk.jpg': source().toColourspace('cmyk'),
      'grey.png': source().greyscale(),
      'huge.jpg': source().resize(6000, 4000, { fit: 'fill' }),
      'one-pixel.png': source().resize(1, 1),
      'sixteen-bit.png': source().toColourspace('rgb16'),
      'tall.png': source().resize(10, 1000, { fit: 'fill' }),
    };
    for (const [name, picture] of Object.entries(made)) await picture.toFile(join(folder, name));
    expect(await sharp(join(folder, 'cmyk.jpg')).metadata()).toMatchObject({ space: 'cmyk' });
    expect(await sharp(join(folder, 'sixteen-bit.png')).metadata()).toMatchObject({ depth: 'ushort' });
    const { code, stdout } = await withModel('--json', folder);
    expect(code).toBe(0);
    const rows = rowsOf(stdout);
    expect(rows).toHaveLength(Object.keys(made).length);
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'ok' });
      expect(row.score).toBeGreaterThanOrEqual(1);
      expect(row.score).toBeLessThanOrEqual(5);
    }
  });

  it.each([
    ['3', 8, /^error: 3 of 3 images score below 5: .*\.\w+, .*\.\w+, .*\.\w+$/m, '5'],
    ['no', 0, /^$/, '1'],
  ])('--min-score: %s pictures below it', async (_what, expected, message, least) => {
    const { code, stdout, stderr } = await withModel('--min-score', least, ...files);
    expect(code).toBe(expected);
    expect(stderr).toMatch(message);
    expect(stdout.match(/^\d\.\d\d/gm)).toHaveLength(3);
  });
});

describe('pictures without a score', () => {
  it('a broken file, a strip and a text among good ones: listed with why, the others scored, exit code 3', async () => {
    const strip = fixture.path('strip.png');
    await sharp({ create: { width: 900, height: 2, channels: 3, background: '#777' } }).toFile(strip);
    const text = fixture.path('text.png');
    await writeFile(text, 'this is no picture');
    const given = [files[0]!, broken, strip, text, files[1]!];
    const { code, stdout, stderr } = await withModel('--json', ...given);
    expect(code).toBe(3);
    const rows = rowsOf(stdout);
    expect(rows.map(({ file }) => file)).toEqual(given);
    expect(rows.map(({ status }) => status)).toEqual(['ok', 'unreadable', 'unreadable', 'unreadable', 'ok']);
    expect(rows.slice(1, 4).map(({ problem }) => problem)).toEqual([
      expect.stringContaining('broken.jpg is broken'),
      'the image is 900x2, an aspect ratio above 200: crop the image',
      expect.stringContaining('text.png is not an image that can be read'),
    ]);
    for (const { score: value } of rows.slice(1, 4)) expect(value).toBeNull();
    expect(stderr).toContain(`error: 3 of 5 images have no score: ${broken}, ${strip}, ${text}`);
  });

  it('beside pictures below --min-score: both are told, exit code 3', async () => {
    const { code, stdout, stderr } = await withModel('--min-score', '5', broken, files[0]!);
    expect(code).toBe(3);
    expect(stderr).toContain(
      `error: 1 of 2 images have no score: ${broken}; 1 of 2 images score below 5: ${files[0]}`,
    );
    // Named once in its line.
    const line = stdout.split('\n').find((one) => one.includes('unreadable'))!;
    expect(line.split(broken)).toHaveLength(2);
    expect(line).toContain('is broken');
  });

  it('a missing path and an empty folder cost their own row alone, and come last', async () => {
    const nowhere = fixture.path('gone.jpg');
    const empty = fixture.path('bare');
    await mkdir(empty);
    await writeFile(join(empty, 'photo.heic'), 'not read');
    const { code, stdout, stderr } = await runChild(
      MAIN,
      ...['score', '--threads', '1', '--model', model, nowhere, files[0]!, empty],
    );
    expect(code).toBe(3);
    const rows = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('      '));
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/^\d\.\d\d /);
    expect(rows[1]).toContain('gone.jpg failed (ENOENT): no such file or folder');
    expect(rows[2]).toContain('bare holds no image file: looked for jpg');
    expect(stderr).toContain('bare: 1 file(s) of kinds that are not read are left out (heic)');
    expect(stderr).toContain('error: 2 of 3 images have no score');
  });

  it('a model that writes no answer: the status of each picture, exit code 3', async () => {
    const { code, stdout, stderr } = await score(
      '--model',
      fixture.random,
      '--set',
      'maxNewTokens=8',
      files[0]!,
      files[1]!,
    );
    expect(code).toBe(3);
    expect(stdout.match(/^ {3}- {2}(truncated|unparsable) {2}/gm)).toHaveLength(2);
    expect(stderr).toContain('error: 2 of 2 images have no score');
  });
});

describe('what cannot be carried out', () => {
  it.each<[string, () => Promise<string[]>, number, RegExp, RegExp?]>([
    [
      'an empty folder',
      async () => {
        await mkdir(fixture.path('empty'));
        return ['--model', model, fixture.path('empty')];
      },
      3,
      /1 of 1 images have no score: .*empty/,
      /unreadable .*empty holds no image file: looked for jpg, png, webp, tiff, gif and avif\n/,
    ],
    [
      'a path that is not there',
      async () => ['--model', model, fixture.path('nowhere.jpg')],
      3,
      /1 of 1 images have no score: .*nowhere\.jpg/,
      /unreadable .*opening .*nowhere\.jpg failed \(ENOENT\): no such file or folder/,
    ],
    ['standard input without a path', async () => ['--model', model, '-'], 3, /standard input holds no path/],
    ['standard input twice', async () => ['--model', model, '-', '-'], 3, /"-" is given twice/],
    ['--json with --csv', async () => ['--model', model, '--json', '--csv', files[0]!], 2, /both set/],
    ['no picture', async () => ['--model', model], 2, /images is missing: give it after the command/],
    [
      'a --min-score off the scale',
      async () => ['--model', model, '--min-score', '9', files[0]!],
      2,
      /minScore: /,
    ],
    [
      'a --min-score that is no number',
      async () => ['--model', model, '--min-score', 'x', files[0]!],
      2,
      /minScore: /,
    ],
    ['an unknown mode', async () => ['--model', model, '--mode', 'best', files[0]!], 2, /mode: /],
    [
      'a model folder that is none',
      async () => ['--model', fixture.data, files[0]!],
      5,
      /error: .*config\.json is missing/,
    ],
    [
      'a model folder that is not there',
      async () => ['--model', fixture.path('no-model'), files[0]!],
      5,
      /error: .*no-model is missing/,
    ],
    [
      'an unknown prompt',
      async () => ['--model', model, '--set', 'prompt=none.v1', files[0]!],
      2,
      /there is no prompt "none\.v1"\nhint: allowed are .*student\/quality\.v1/,
    ],
  ])('%s', async (_what, args, code, message, output = /^$/) => {
    const ended = await score(...(await args()));
    expect(ended.code).toBe(code);
    expect(ended.stdout).toMatch(output);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  });
});

describe('stopped by the user', () => {
  // The second batch of 32 holds what is not scored; the first is whole when the signal is looked at.
  const many = () => Array.from({ length: 200 }, (_, i) => files[i % files.length]!);

  it.each([
    ['JSON rows', ['--json'], /^\{"file":/gm],
    ['the sorted list', [], /^\d\.\d\d /gm],
  ])('prints what is done: %s', async (_what, args, row) => {
    const child = startChild(MAIN, ['score', '--threads', '1', '--model', model, ...args, ...many()]);
    await child.printed('score: 1/200');
    child.process.kill('SIGINT');
    const { code, stdout, stderr } = await child.ended;
    expect(code).toBe(130);
    const count = stdout.match(row)?.length ?? 0;
    expect(count).toBeGreaterThanOrEqual(32);
    expect(count).toBeLessThan(200);
    expect(stderr).toContain('hint: this command keeps no state');
  });
});
