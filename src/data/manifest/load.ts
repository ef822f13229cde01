import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  asStorageError,
  ConfigError,
  mergeConfig,
  type PlainObject,
  readConfigFile,
} from '../../core/index.ts';
import { columnsOf } from './fields.ts';
import { type Manifest, type ManifestForm, manifestSchema } from './schema.ts';

/** The manifests that come with the package: data sets, and in formats/ the file formats of other projects. */
export const MANIFESTS_FOLDER: string = fileURLToPath(new URL('../../../datasets', import.meta.url));

const FOLDERS = ['.', 'formats'] as const;

export interface LoadedManifest extends Manifest {
  path: string;
  /** SHA-256 of the manifest file, hexadecimal. */
  sha256: string;
}

/** Names of the manifests that come with the package and their files, sorted. */
export async function shippedManifests(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS) {
    const path = join(MANIFESTS_FOLDER, folder);
    let files: string[];
    try {
      files = await readdir(path);
    } catch (error) {
      throw asStorageError(error, `reading the manifests in ${path}`);
    }
    for (const file of files.sort()) {
      if (file.endsWith('.yaml')) found.set(file.slice(0, -'.yaml'.length), join(path, file));
    }
  }
  return found;
}

/** A shipped manifest by its name, or any other by the path of its YAML file. */
export async function loadManifest(nameOrPath: string): Promise<LoadedManifest> {
  let path = nameOrPath;
  if (!/\.ya?ml$/i.test(nameOrPath)) {
    const shipped = await shippedManifests();
    const known = shipped.get(nameOrPath.toLowerCase());
    if (known === undefined) {
      throw new ConfigError(`there is no manifest "${nameOrPath}"`, {
        hint: `allowed are ${[...shipped.keys()].join(', ')}, or the path of a YAML file`,
      });
    }
    path = known;
  }
  const manifest = parseManifest(await readConfigFile(path), path);
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return { ...manifest, path, sha256 };
}

/** Checks a manifest's content: all problems in one ConfigError. `defaults` lie under every form. */
export function parseManifest(content: PlainObject, path: string): Manifest {
  const { defaults = {}, forms, ...rest } = content;
  const isMapping = (value: unknown): value is PlainObject =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const filled =
    Array.isArray(forms) && isMapping(defaults)
      ? forms.map((form: unknown) => (isMapping(form) ? mergeConfig(defaults, form) : form))
      : forms;
  const problems: string[] = isMapping(defaults) ? [] : ['defaults: a mapping is expected'];
  const parsed = manifestSchema.safeParse({ ...rest, forms: filled });
  if (!parsed.success) {
    problems.push(
      ...parsed.error.issues.map((issue) => `${issue.path.join('.') || '(top)'}: ${issue.message}`),
    );
  } else {
    for (const form of parsed.data.forms)
      problems.push(...formProblems(form).map((text) => `${form.id}: ${text}`));
    const ids = parsed.data.forms.map(({ id }) => id);
    for (const id of new Set(ids.filter((one, i) => ids.indexOf(one) !== i)))
      problems.push(`two forms are called ${id}`);
  }
  if (problems.length > 0 || !parsed.success) {
    throw new ConfigError(
      `manifest ${path} has ${problems.length} problem(s):\n${problems.map((line) => `  ${line}`).join('\n')}`,
      { hint: 'the manifests in datasets/ show every key in use' },
    );
  }
  return parsed.data;
}

/** What the schema alone can't say about a form. */
function formProblems(form: ManifestForm): string[] {
  const problems: string[] = [];
  if (form.files.length > 0 && (form.image === undefined) === (form.imageSequence === undefined)) {
    problems.push('give exactly one of image and imageSequence');
  }
  if (form.mosFromVotes && (form.mos !== null || form.votes === undefined)) {
    problems.push('mosFromVotes needs votes, and mos: null');
  }
  const labelled = form.mos !== null || form.mosFromVotes;
  if (!labelled && (form.std !== undefined || form.range !== undefined)) {
    problems.push('std and range belong to a score, and mos is null');
  }
  if (form.split !== undefined && form.splitLists.length > 0)
    problems.push('give one of split and splitLists');
  const named = new Set([
    '$image',
    ...Object.keys(form.derive),
    ...[...(form.names ?? '').matchAll(/\(\?<(\w+)>/g)].map(([, group]) => `$${group}`),
  ]);
  const fields = [form.reference, form.distortion, form.level, form.group, form.split];
  const used = [...fields, ...form.exclude.map(({ field }) => field)].flatMap((field) =>
    field === undefined ? [] : columnsOf(field).flat(),
  );
  for (const group of used.filter((column) => column.startsWith('$'))) {
    if (!named.has(group)) problems.push(`${group} is no group of names and not derived`);
  }
  return problems;
}
