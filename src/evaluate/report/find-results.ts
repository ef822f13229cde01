import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { asStorageError, InputError } from '../../core/index.ts';
import type { QuotedResult } from './report-data.ts';

/** A file of predictions, and what its place says about it. */
export interface FoundPredictions {
  path: string;
  /** Named by the file; otherwise the file beside it may know, and the folder is the last resort. */
  model?: string;
  /** How scores were read, where the file is named by it. */
  mode?: string;
  /** Data set of a suite, by the suite's own name for it. */
  entry?: string;
}

export interface FoundResults {
  predictions: FoundPredictions[];
  /** Folders of training runs: config.json and metrics.jsonl. */
  runs: string[];
  /** Published figures that suites carry along; `split` is the suite's name of a data set. */
  quoted: QuotedResult[];
  /** Whether a suite was found: its data sets belong together. */
  suite: boolean;
}

const DEPTH = 4;
/** Folders that never hold results and may hold very many files. */
const SKIPPED = new Set(['checkpoints', 'model', 'images', 'node_modules', '.git']);
const NAMED_FILE = /^(.+)-(?:train|validation|test|cross)-([a-z]+)\.jsonl$/;

const suiteSchema = z.looseObject({
  rows: z.array(
    z.looseObject({
      kind: z.string(),
      model: z.string(),
      source: z.string().optional(),
      cells: z.record(
        z.string(),
        z.looseObject({ values: z.record(z.string(), z.looseObject({ value: z.number().optional() })) }),
      ),
    }),
  ),
});
type Suite = z.infer<typeof suiteSchema>;

/**
 * Looks through a folder for results: `predictions.jsonl` (of `eval run` and of suites), `predictions/<model>-
 * <split>-<mode>.jsonl` (of the demo) and training runs. In order of path, so that a page is the same each time.
 */
export async function findResults(folder: string): Promise<FoundResults> {
  const found: FoundResults = { predictions: [], runs: [], quoted: [], suite: false };
  await walk(folder, DEPTH, undefined, found);
  if (found.predictions.length === 0 && found.runs.length === 0) {
    throw new InputError(`${folder} holds neither predictions nor a training run`, {
      hint: 'name a run folder, the output of "q-ponder eval run", a suite\u2019s results or a demo folder',
    });
  }
  return found;
}

async function walk(
  folder: string,
  depth: number,
  outer: Suite | undefined,
  found: FoundResults,
): Promise<void> {
  const entries = await list(folder);
  const files = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  let suite = outer;
  if (files.has('suite.json')) {
    suite = await readSuite(join(folder, 'suite.json'));
    found.suite = true;
    found.quoted.push(...quotedOf(suite));
  }
  if (files.has('metrics.jsonl') && files.has('config.json')) found.runs.push(folder);
  if (files.has('predictions.jsonl')) found.predictions.push(fromFolder(folder, suite));
  if (basename(folder) === 'predictions') {
    for (const name of [...files].sort()) {
      const [, model, mode] = NAMED_FILE.exec(name) ?? [];
      if (model !== undefined) found.predictions.push({ path: join(folder, name), model, mode: mode! });
    }
  }
  if (depth === 0) return;
  const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    await walk(join(folder, name), depth - 1, suite, found);
  }
}

/** A suite keeps each result in `<data set>-<reading>`, the ones of its baselines below "baselines". */
function fromFolder(folder: string, suite: Suite | undefined): FoundPredictions {
  const path = join(folder, 'predictions.jsonl');
  const name = basename(folder);
  const entries = suite?.rows.flatMap(({ cells }) => Object.keys(cells)) ?? [];
  // The longest, because one name may begin with another: "koniq" and "koniq-test".
  const entry = entries.filter((id) => name.startsWith(`${id}-`)).sort((a, b) => b.length - a.length)[0];
  if (entry === undefined) return { path };
  const baseline = basename(dirname(folder)) === 'baselines';
  return { path, entry, ...(baseline ? { model: name.slice(entry.length + 1) } : {}) };
}

async function list(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw asStorageError(error, `reading folder ${folder}`);
  }
}

async function readSuite(path: string): Promise<Suite> {
  try {
    return suiteSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      throw new InputError(`${path} is not the record of a suite`, {
        hint: 'run the suite again, or move this file away',
        cause: error,
      });
    }
    throw asStorageError(error, `reading ${path}`);
  }
}

const quotedOf = ({ rows }: Suite): QuotedResult[] =>
  rows
    .filter(({ kind }) => kind === 'quoted')
    .flatMap(({ model, source = 'no source given', cells }) =>
      Object.entries(cells).map(([split, { values }]) => ({
        model,
        split,
        source,
        ...(values.srcc?.value === undefined ? {} : { srcc: values.srcc.value }),
        ...(values.plcc?.value === undefined ? {} : { plcc: values.plcc.value }),
      })),
    );
