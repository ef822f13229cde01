import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asStorageError, ConfigError } from '../../core/index.ts';

/** As much of esbuild as is used. */
interface Esbuild {
  build(options: object): Promise<{ outputFiles: { text: string }[] }>;
}
interface ResolveArgs {
  path: string;
  kind: string;
  importer: string;
  resolveDir: string;
  pluginData: unknown;
}
interface PluginBuild {
  onResolve(options: { filter: RegExp }, find: (args: ResolveArgs) => Promise<object | undefined>): void;
  resolve(path: string, options: object): Promise<{ path: string; errors: unknown[] }>;
}

export interface LoadableModule {
  /** file: URL of JavaScript that Node can import. */
  url: string;
  /** Removes what was written for it. */
  dispose(): Promise<void>;
}

/** The compiler of whoever wrote the file, or ours. */
async function esbuildFor(path: string): Promise<Esbuild | undefined> {
  for (const base of [path, import.meta.url]) {
    let found: string;
    try {
      found = createRequire(base).resolve('esbuild');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') continue;
      throw error;
    }
    const module = (await import(pathToFileURL(found).href)) as { default?: Esbuild } & Esbuild;
    return module.default ?? module;
  }
  return undefined;
}

/** Packages stay where they are, by their addresses: the compiled file lies elsewhere and would not find them. */
const packagesInPlace = {
  name: 'packages-in-place',
  setup(build: PluginBuild): void {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (isBuiltin(path) || pluginData === packagesInPlace || kind === 'entry-point') return undefined;
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: packagesInPlace });
      if (found.errors.length > 0 || !found.path.includes(`${sep}node_modules${sep}`)) return undefined;
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};

async function compile(esbuild: Esbuild, path: string): Promise<string> {
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: [path],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      target: `node${process.versions.node}`,
      sourcemap: 'inline',
      logLevel: 'silent',
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(path).href) },
      plugins: [packagesInPlace],
    });
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    throw new ConfigError(`the reward file ${path} does not compile: ${(error as Error).message}`, {
      hint: 'mend it where the message says',
      cause: error,
    });
  }
}

/** Node 22.18 and later take TypeScript of erasable syntax as it is. */
const nodeTakesTypeScript = (): boolean => Boolean((process.features as { typescript?: unknown }).typescript);

/**
 * Makes a reward file importable. JavaScript is taken as it is; TypeScript is compiled with what it imports by
 * relative paths, if esbuild can be found beside the file or beside this package.
 *
 * @throws ConfigError, StorageError
 */
export async function loadableModule(path: string): Promise<LoadableModule> {
  const file = resolve(path);
  try {
    if (!(await stat(file)).isFile()) throw new ConfigError(`the reward file ${file} is no file`);
  } catch (error) {
    throw asStorageError(error, `reading reward file ${file}`);
  }
  const asItIs = { url: pathToFileURL(file).href, dispose: async () => undefined };
  if (!/\.m?ts$/.test(file)) return asItIs;
  const esbuild = await esbuildFor(file);
  if (esbuild === undefined) {
    if (nodeTakesTypeScript()) return asItIs;
    throw new ConfigError(
      `the reward file ${file} is TypeScript, which Node ${process.versions.node} cannot run`,
      {
        hint: 'run "npm install esbuild" beside it, compile it to .mjs, or use Node 22.18 or later',
      },
    );
  }
  const code = await compile(esbuild, file);
  try {
    const folder = await mkdtemp(join(tmpdir(), 'q-ponder-reward-'));
    const compiled = join(folder, 'reward.mjs');
    await writeFile(compiled, code);
    return {
      url: pathToFileURL(compiled).href,
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    throw asStorageError(error, `writing the compiled reward file of ${file}`);
  }
}
