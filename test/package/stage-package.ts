import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));
export const run = promisify(execFile);
/** A program of the development dependencies. */
export const tool = (name: string): string => join(ROOT, 'node_modules', '.bin', name);

export interface StagedPackage {
  /** The package as it is published, beside its dependencies. */
  folder: string;
  /** A project that has it installed. */
  consumer: string;
  remove(): Promise<void>;
}

/** What package.json lists in `files`, but for `dist`, which is built anew. */
const SHIPPED = ['package.json', 'README.md', 'LICENSE', 'models', 'prompts', 'scripts/recipes'];

/** Builds the package apart from the working tree, whose own build may be old or missing. */
export async function stagePackage(): Promise<StagedPackage> {
  const base = await mkdtemp(join(tmpdir(), 'q-ponder-package-'));
  const folder = join(base, 'package');
  const consumer = join(base, 'consumer');
  await mkdir(join(consumer, 'node_modules'), { recursive: true });
  for (const name of SHIPPED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  // Types are checked by `npm run types`.
  await run(tool('tsc'), ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(folder, 'dist')], {
    cwd: ROOT,
  });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await symlink(folder, join(consumer, 'node_modules', 'q-ponder'));
  await symlink(join(ROOT, 'node_modules', '@types'), join(consumer, 'node_modules', '@types'));
  await writeFile(join(consumer, 'package.json'), '{"name":"consumer","type":"module"}');
  return { folder, consumer, remove: () => rm(base, { recursive: true, force: true }) };
}
