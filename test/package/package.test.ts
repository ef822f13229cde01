import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ROOT, run, type StagedPackage, stagePackage, tool } from './stage-package.ts';

// The compiler runs over the whole product here.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string; size: number }[];
}

let staged: StagedPackage;
let packed: Packed;

beforeAll(async () => {
  staged = await stagePackage();
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--offline'], {
    cwd: staged.folder,
    maxBuffer: 2 ** 26,
  });
  [packed] = JSON.parse(stdout) as [Packed];
});
afterAll(() => staged.remove());

describe('what npm pack puts in', () => {
  const ALLOWED = [
    /^(package\.json|README\.md|LICENSE)$/,
    /^dist\/.+\.(js|d\.ts)$/,
    /^prompts\/.+\.md$/,
    /^models\/[\w.-]+\/(model\.safetensors|[\w-]+\.json)$/,
    /^scripts\/recipes\/[\w-]+\.yaml$/,
  ];

  it('is code with types, prompts, the base model and recipes, and nothing else', () => {
    const others = packed.files
      .map(({ path }) => path)
      .filter((path) => !ALLOWED.some((kind) => kind.test(path)));
    expect(others).toEqual([]);
  });

  it('has the entry points, each module with its types', async () => {
    const paths = new Set(packed.files.map(({ path }) => path));
    const wanted = ['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'prompts/student/quality.v1.md'];
    expect(wanted.filter((path) => !paths.has(path))).toEqual([]);
    const modules = [...paths].filter((path) => path.endsWith('.js'));
    expect(modules.filter((path) => !paths.has(path.replace(/\.js$/, '.d.ts')))).toEqual([]);
  });

  it('is small: 12 MB packed, 16 MB unpacked at most, most of it the base model', () => {
    expect(packed.size).toBeLessThan(12e6);
    expect(packed.unpackedSize).toBeLessThan(16e6);
    const code = packed.files.filter(({ path }) => path.startsWith('dist/'));
    expect(code.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(6e6);
  });
});

it('publint finds nothing to mend', async () => {
  const { messages, pkg } = await publint({
    pkgDir: staged.folder,
    level: 'warning',
    strict: true,
    pack: false,
  });
  expect(messages.map((message) => formatMessage(message, pkg as Record<string, unknown>))).toEqual([]);
});

it('are-the-types-wrong finds nothing wrong for ES modules', async () => {
  const { stdout } = await run(
    tool('attw'),
    [packed.filename, '--profile', 'esm-only', '--no-definitely-typed', '--format', 'json'],
    { cwd: staged.folder, maxBuffer: 2 ** 26 },
  );
  const { analysis } = JSON.parse(stdout) as { analysis: { types: unknown; problems: unknown[] } };
  expect(analysis.types).toEqual({ kind: 'included' });
  // Whoever requires an ES module in CommonJS, or resolves as before Node 12, is left out on purpose.
  const problems = (analysis.problems as { kind: string; resolutionKind?: string }[]).filter(
    ({ kind, resolutionKind }) =>
      kind !== 'CJSResolvesToESM' && !(kind === 'NoResolution' && resolutionKind === 'node10'),
  );
  expect(problems).toEqual([]);
});

describe('a project that has it installed', () => {
  const compile = async (files: readonly string[]): Promise<string> => {
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--skipLibCheck'];
    const compiled = run(tool('tsc'), [...options, '--types', 'node', ...files], { cwd: staged.consumer });
    return compiled.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  };

  it('compiles every example', async () => {
    const names = (await readdir(join(ROOT, 'examples'))).filter((name) => name.endsWith('.ts'));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) {
      await writeFile(join(staged.consumer, name), await readFile(join(ROOT, 'examples', name)));
    }
    expect(await compile(names)).toBe('');
  });

  it('gets types that tell right from wrong', async () => {
    await writeFile(
      join(staged.consumer, 'wrong.ts'),
      [
        "import { createScorer } from 'q-ponder';",
        "const scorer = await createScorer({ mode: 'expected' });",
        "const result = await scorer.score('x.png');",
        'const unsafe: number = result.score;',
        "await createScorer({ mode: 'best' });",
        'for await (const item of scorer.scoreBatch(["x.png"].values())) item.score.score;',
      ].join('\n'),
    );
    const lines = [...(await compile(['wrong.ts'])).matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => line);
    expect(lines).toEqual(['4', '5', '6']);
  });

  it('runs the built package: an upload of no bytes is told as what it is', async () => {
    await writeFile(
      join(staged.consumer, 'run.mjs'),
      [
        "import { createScorer } from 'q-ponder';",
        "const model = new URL('./node_modules/q-ponder/models/qwen2.5-vl-mini', import.meta.url).pathname;",
        'const scorer = await createScorer({ model, engine: { threads: 1 } });',
        'await scorer.score(new Uint8Array(0)).catch((error) => console.log(error.code, error.message));',
        'scorer.close();',
      ].join('\n'),
    );
    const { stdout } = await run(process.execPath, ['run.mjs'], { cwd: staged.consumer });
    expect(stdout).toBe('INPUT image is empty (0 bytes)\n');
  });
});
