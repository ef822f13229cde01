import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/core/index.ts';
import { fileTerms, group, openTerms, rewardFile, valuesOf } from './scoring.ts';

const ok = (value: number) => ({ status: 'ok', value });
const missing = (reason: string) => ({ status: 'missing', reason });
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
/** Scores a completion by its length, except for those that name something to do. */
const obeying = (action: string): string => `
  import { execSync } from 'node:child_process';
  export default (samples) => samples.map(({ completion }) => {
    if (completion === 'bad') { ${action} }
    return completion.length;
  });`;

describe('a reward file', () => {
  it('scores completions by a function', async () => {
    const terms = await fileTerms('export default (samples) => samples.map((s) => s.completion.length);');
    expect(await valuesOf(terms, ['a', 'bcd', ''])).toEqual([ok(1), ok(3), ok(0)]);
  });

  it('scores by an object with a batch size, called on itself', async () => {
    const terms = await fileTerms(
      'export default { batchSize: 2, add: 1, score(samples) { return samples.map(() => samples.length + this.add); } };',
    );
    expect(await valuesOf(terms, ['a', 'b', 'c'])).toEqual([ok(3), ok(3), ok(2)]);
  });

  it('scores by an export named score, asynchronously', async () => {
    const terms = await fileTerms(
      'export async function score(samples) { return samples.map((s) => s.mos); }',
    );
    expect(await valuesOf(terms, ['a'])).toEqual([ok(3.25)]);
  });

  it('may be CommonJS', async () => {
    const terms = await fileTerms('module.exports = (samples) => samples.map(() => 4);', { extension: 'js' });
    expect(await valuesOf(terms, ['a'])).toEqual([ok(4)]);
  });

  it('may be TypeScript with enums that imports a file and a package beside it', async () => {
    const path = await rewardFile(
      `import { half } from 'half';
       import { grade } from './grade.ts';
       export default (samples: { completion: string }[]): number[] =>
         samples.map(({ completion }) => half(grade(completion)));`,
      'reward.ts',
    );
    const folder = dirname(path);
    await writeFile(
      join(folder, 'grade.ts'),
      `enum Grade { Low = 2, High = 7 }
       export const grade = (text: string): Grade => (text === 'good' ? Grade.High : Grade.Low);`,
    );
    const half = join(folder, 'node_modules', 'half');
    await mkdir(half, { recursive: true });
    await writeFile(
      join(half, 'package.json'),
      JSON.stringify({ name: 'half', type: 'module', exports: { import: './half.js' } }),
    );
    await writeFile(join(half, 'half.js'), 'export const half = (value) => value / 2;');
    const terms = await openTerms([{ kind: 'file', name: 'own', weight: 1, range: [0, 10], path }]);
    expect(await valuesOf(terms, ['good', 'other'])).toEqual([ok(3.5), ok(1)]);
  });

  it('may be the one of the manual: 40, 80 and 120 words', async () => {
    const manual = await readFile(new URL('../../../docs/rewards.md', import.meta.url), 'utf8');
    const terms = await fileTerms(/```js\n([\s\S]*?)```/.exec(manual)?.[1] ?? '');
    const words = (count: number): string => new Array(count).fill('word').join(' ');
    expect(await valuesOf(terms, [words(40), words(80), words(120)])).toEqual([ok(1), ok(0.5), ok(0)]);
  });

  it('is told all about the completion', async () => {
    const printed: string[] = [];
    const terms = await fileTerms(
      'export default ([sample]) => { console.log(JSON.stringify(sample)); return [0]; };',
      { batchSize: 1 },
      { note: (line) => printed.push(line) },
    );
    const target = {
      dataset: 'd',
      mos: 2,
      mosStd: 0.5,
      referenceDistortions: [{ type: 'jpeg', level: 2 }] as const,
    };
    const text = '<think>blocky.</think><answer>2.50</answer>';
    const about = { id: 'picture-1', image: '/p.png', prompt: 'Q', target, texts: [text] };
    await terms.score(7, [about]);
    await terms.close();
    const sample = {
      id: 'picture-1',
      dataset: 'd',
      image: '/p.png',
      prompt: 'Q',
      completion: text,
      reasoning: 'blocky.',
      score: 2.5,
      mos: 2,
      mosStd: 0.5,
      distortions: [{ type: 'jpeg', level: 2 }],
      step: 7,
      group: 0,
      index: 0,
    };
    expect(printed).toEqual([`own: ${JSON.stringify(sample)}`]);
  });
});

describe('a reward file that fails', () => {
  it.each([
    ['throws', 'throw new RangeError("too bad");', 'own: RangeError: too bad'],
    ['throws what is no error', 'throw "words";', 'own: threw words'],
    ['ends its process', 'process.exit(3);', 'own: its process ended: exit code 3'],
    ['breaks its process', 'process.abort();', 'own: its process ended: SIGABRT'],
    ['hangs up', 'process.disconnect();', 'own: its process ended: exit code 0'],
    ['gives NaN', 'return NaN;', 'own: the value is NaN, a finite number is needed'],
    ['gives a text', 'return "5";', 'own: the value is a string, a finite number is needed'],
    ['gives null', 'return null;', 'own: the value is null, a finite number is needed'],
    ['gives a function', 'return () => 5;', 'own: the value is a function, a finite number is needed'],
    ['gives more than the range allows', 'return 11;', 'own: the value 11 is outside the range [0, 10]'],
  ])('%s: missing for the completion, and the next ones are scored', async (_name, action, reason) => {
    const terms = await fileTerms(obeying(action), { batchSize: 1 });
    expect(await valuesOf(terms, ['bad', 'ab', 'bad', 'abc'])).toEqual([
      missing(reason),
      ok(2),
      missing(reason),
      ok(3),
    ]);
  });

  it.each([
    ['loops', 'for (;;);'],
    ['waits outside of JavaScript', 'execSync("sleep 5");'],
    ['holds on to signals', "process.on('SIGTERM', () => {}); for (;;);"],
  ])('%s: ended at its deadline, and the next ones are scored', async (_name, action) => {
    const terms = await fileTerms(obeying(action), { batchSize: 1, deadlineSeconds: 0.4 });
    expect(await valuesOf(terms, ['bad', 'ab'])).toEqual([missing('own: no value within 0.4 s'), ok(2)]);
    expect(terms.counts().own).toMatchObject({ samples: 2, missing: 1, timeouts: 1, errors: 0, retries: 0 });
  });

  it('never settles: ended at its deadline', async () => {
    const terms = await fileTerms('export default () => new Promise(() => {});', { deadlineSeconds: 0.2 });
    expect(await valuesOf(terms, ['a'])).toEqual([missing('own: no value within 0.2 s')]);
  });

  it.each([
    ['objects', 'const kept = []; for (;;) kept.push({ at: kept.length });'],
    // Ends every thread of the process that it happens in.
    ['an array', 'const kept = []; for (;;) kept.push(1);'],
  ])('fills its memory with %s: only its process ends', async (_name, action) => {
    const printed: string[] = [];
    const terms = await fileTerms(
      obeying(action),
      { batchSize: 1, memoryMb: 32 },
      { note: (line) => printed.push(line) },
    );
    expect(await valuesOf(terms, ['bad', 'ab'])).toEqual([
      missing('own: its process ended: more memory than 32 MB or than an array can have'),
      ok(2),
    ]);
    // Not the pages that Node prints about it.
    expect(printed).toEqual([]);
  });

  it('throws after it has answered: the next call has a new process', async () => {
    const terms = await fileTerms(
      `export default (samples) => { setTimeout(() => { throw new Error('late'); }, 0); return samples.map(() => 1); };`,
    );
    expect(await valuesOf(terms, ['a'])).toEqual([ok(1)]);
    await setTimeout(100);
    expect(await valuesOf(terms, ['a'])).toEqual([ok(1)]);
  });

  it.each([
    [
      'a list too short',
      'export default () => [1];',
      'own: Error: got a list of 1, a list of 2 numbers is needed',
    ],
    ['no list', 'export default () => 5;', 'own: Error: got 5, a list of 2 numbers is needed'],
    ['nothing', 'export default () => {};', 'own: Error: got undefined, a list of 2 numbers is needed'],
  ])('gives %s: missing for the whole batch', async (_name, code, reason) => {
    expect(await valuesOf(await fileTerms(code), ['a', 'b'])).toEqual([missing(reason), missing(reason)]);
  });

  it('cannot answer in its own place by messages of its own', async () => {
    const terms = await fileTerms(
      `export default (samples) => {
         process.send('hello');
         process.send({ kind: 'done', id: 99, values: [9] });
         return samples.map(() => 1);
       };`,
    );
    expect(await valuesOf(terms, ['a'])).toEqual([ok(1)]);
  });
});

describe('the calls of a reward file', () => {
  it('are tried again as configured, and the retry counts', async () => {
    const terms = await fileTerms(
      `import { existsSync, writeFileSync } from 'node:fs';
       import { fileURLToPath } from 'node:url';
       const mark = fileURLToPath(new URL('./tried', import.meta.url));
       export default (samples) => {
         if (existsSync(mark)) return samples.map(() => 5);
         writeFileSync(mark, '');
         throw new Error('the first time');
       };`,
      { retries: 2 },
    );
    expect(await valuesOf(terms, ['a'])).toEqual([ok(5)]);
    expect(terms.counts().own).toMatchObject({ samples: 1, missing: 0, errors: 1, retries: 1, timeouts: 0 });
  });

  it('may be slow within the deadline', async () => {
    const terms = await fileTerms(
      'export default async (samples) => { await new Promise((r) => setTimeout(r, 300)); return samples.map(() => 1); };',
      { deadlineSeconds: 30 },
    );
    expect(await valuesOf(terms, ['a'])).toEqual([ok(1)]);
  });

  it('run in as many processes as configured', async () => {
    const terms = await fileTerms(
      'export default async () => { await new Promise((r) => setTimeout(r, 200)); return [process.pid]; };',
      { batchSize: 1, concurrency: 2, range: [0, 1e9] },
    );
    const values = await valuesOf(terms, ['a', 'b']);
    expect(new Set(values.map((value) => (value.status === 'ok' ? value.value : 0))).size).toBe(2);
  });

  it('are given up for the step after three without an answer, and asked again in the next', async () => {
    const terms = await fileTerms(obeying('for (;;);'), { batchSize: 1, deadlineSeconds: 0.3 });
    expect(await valuesOf(terms, ['bad', 'bad', 'bad', 'ab'])).toEqual([
      ...new Array(3).fill(missing('own: no value within 0.3 s')),
      missing('own: not asked, the 3 calls before got no answer'),
    ]);
    expect(await valuesOf(terms, ['ab'])).toEqual([ok(2)]);
    expect(terms.counts().own).toMatchObject({ samples: 5, missing: 4, timeouts: 3, skipped: 1 });
  });

  it('end with the reason of an abort', async () => {
    const controller = new AbortController();
    const terms = await fileTerms(
      'export default () => new Promise(() => {});',
      {},
      { signal: controller.signal },
    );
    const scored = terms.score(0, [group('a')]);
    controller.abort(new Error('stopped by the user'));
    await expect(scored).rejects.toThrow('stopped by the user');
  });
});

describe('the process of a reward file', () => {
  it('that loops ends soon after its parent was killed', async () => {
    const path = await rewardFile('export default () => { console.log(process.pid); for (;;); };');
    const parent = fork(fileURLToPath(new URL('./scoring-parent.ts', import.meta.url)), [path], {
      execArgv: ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = (await once(parent, 'message')) as [string];
    const pid = Number(line.replace('own: ', ''));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    while (isAlive(pid)) await setTimeout(50);
  });
});

describe('a reward file that cannot be used', () => {
  it.each([
    ['exports nothing', 'export const other = 1;', /exports no reward/],
    ['throws while it loads', 'throw new Error("at the top");', /Error: at the top/],
    ['has a syntax error', 'export default (', /SyntaxError/],
    ['ends while it loads', 'process.exit(4);', /its process ended: exit code 4/],
    ['has an impossible batch size', 'export default { batchSize: 0, score: () => [] };', /batchSize is 0/],
  ])('%s: a ConfigError at the start', async (_name, code, message) => {
    await expect(fileTerms(code)).rejects.toThrow(message);
    await expect(fileTerms(code)).rejects.toThrow(ConfigError);
  });

  it('is TypeScript with a syntax error: the place is named', async () => {
    await expect(fileTerms('export default (a: number => 1;', { extension: 'ts' })).rejects.toThrow(
      /does not compile[\s\S]*reward\.ts:1:\d+/,
    );
  });

  it('is not there', async () => {
    const term = {
      kind: 'file',
      name: 'own',
      weight: 1,
      range: [0, 1],
      path: '/nowhere/reward.mjs',
    } as const;
    await expect(openTerms([{ ...term, range: [0, 1] }])).rejects.toThrow(
      'reading reward file /nowhere/reward.mjs',
    );
  });

  it('leaves no process of the terms before it', async () => {
    const good = await rewardFile('setInterval(() => {}, 1000); export default () => [1];');
    const bad = await rewardFile('export const other = 1;');
    const common = { kind: 'file', weight: 1 } as const;
    await expect(
      openTerms([
        { ...common, name: 'good', range: [0, 1], path: good },
        { ...common, name: 'bad', range: [0, 1], path: bad },
      ]),
    ).rejects.toThrow(/of the term bad/);
  });
});
