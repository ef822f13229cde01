import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import type { z } from 'zod';
import { asStorageError, ConfigError } from './errors.ts';

export type PlainObject = { [key: string]: unknown };

const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deep merge: objects merge key by key, everything else (arrays too) is replaced by the later value. */
export function mergeConfig(base: PlainObject, over: PlainObject): PlainObject {
  const result: PlainObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    result[key] = isPlainObject(old) && isPlainObject(value) ? mergeConfig(old, value) : value;
  }
  return result;
}

/** Parses one `--set a.b.c=value`; the value is YAML, so numbers, booleans, lists and null work as written. */
export function parseSetting(setting: string): PlainObject {
  const at = setting.indexOf('=');
  const keys = at < 0 ? [] : setting.slice(0, at).split('.');
  if (at <= 0 || keys.some((key) => key === '' || key === '__proto__')) {
    throw new ConfigError(`--set got "${setting}"`, {
      hint: 'write --set section.key=value, for example --set optimizer.learningRate=1e-4',
    });
  }
  let value: unknown;
  try {
    value = parseYaml(setting.slice(at + 1));
  } catch (error) {
    throw new ConfigError(`--set got "${setting}", whose value is not YAML: ${(error as Error).message}`, {
      hint: 'quote the value, for example --set \'name="[x"\'',
    });
  }
  for (const key of keys.reverse()) value = { [key]: value };
  return value as PlainObject;
}

/** Reads a YAML (or JSON, which is YAML) configuration file. An empty file is an empty configuration. */
export async function readConfigFile(path: string): Promise<PlainObject> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw asStorageError(error, `reading configuration ${path}`);
  }
  let value: unknown;
  try {
    value = parseYaml(text) ?? {};
  } catch (error) {
    throw new ConfigError(`${path} is not valid YAML: ${(error as Error).message}`);
  }
  if (!isPlainObject(value)) throw new ConfigError(`${path} must hold one mapping of settings`);
  return value;
}

/**
 * Resolves a stage configuration: defaults (the schema's own) < files in order < settings in order. Unknown
 * keys fail, and all problems are reported in one error.
 */
export function resolveConfig<T>(schema: z.ZodType<T>, layers: PlainObject[], name: string): T {
  const merged = layers.reduce(mergeConfig, {});
  const parsed = schema.safeParse(merged);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `  ${issue.path.join('.') || '(top)'}: ${issue.message}`,
  );
  throw new ConfigError(`${name} has ${problems.length} problem(s):\n${problems.join('\n')}`, {
    hint: `q-ponder ... --dry-run prints every key with its value`,
  });
}
