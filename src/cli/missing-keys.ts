import { isMap, isScalar, type YAMLMap, Document as YamlDocument } from 'yaml';
import { z } from 'zod';
import { ConfigError, mergeConfig, type PlainObject } from '../core/index.ts';

/** A key that the schema requires and nothing gave. */
export interface MissingKey {
  /** Dotted, as --set takes it. */
  key: string;
  path: readonly string[];
}

/** Stands in a printed plan where a value must be given. */
export const REQUIRED = '(required)';

const valueAt = (config: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    config,
  );

/** What is wrong with a configuration, the keys that are missing apart from all else. */
export function findProblems<T>(
  schema: z.ZodType<T>,
  config: PlainObject,
): { missing: MissingKey[]; others: string[] } {
  const parsed = schema.safeParse(config);
  const missing: MissingKey[] = [];
  const others: string[] = [];
  for (const issue of parsed.success ? [] : parsed.error.issues) {
    const path = issue.path.map(String);
    const absent =
      path.length > 0 && issue.code !== 'unrecognized_keys' && valueAt(config, path) === undefined;
    if (absent) missing.push({ key: path.join('.'), path });
    else others.push(`${path.join('.') || '(top)'}: ${issue.message}`);
  }
  return { missing, others };
}

/**
 * The configuration with "(required)" in place of what is missing and every default filled in; undefined where
 * more is wrong than missing keys.
 */
export function planWithGaps<T>(schema: z.ZodType<T>, config: PlainObject): T | undefined {
  const { missing, others } = findProblems(schema, config);
  if (others.length > 0) return undefined;
  let filled = config;
  for (const { path } of missing) {
    // A list of texts is the other kind of value that commands require.
    const fits = [REQUIRED, [REQUIRED]].find((value) => {
      const tried = findProblems(schema, mergeConfig(filled, nestPath(path, value)));
      return ![
        ...tried.missing.map(({ key }) => key),
        ...tried.others.map((line) => line.split(':')[0]),
      ].includes(path.join('.'));
    });
    if (fits === undefined) return undefined;
    filled = mergeConfig(filled, nestPath(path, fits));
  }
  const parsed = schema.safeParse(filled);
  return parsed.success ? parsed.data : undefined;
}

/** An object that holds a value at a path. */
export function nestPath(path: readonly string[], value: unknown): PlainObject {
  return path.toReversed().reduce<unknown>((inner, name) => ({ [name]: inner }), value) as PlainObject;
}

/** All problems in one ConfigError, each missing key with the way to give it. */
export function missingKeysError(
  name: string,
  { missing, others }: ReturnType<typeof findProblems>,
  howToGive: (key: string) => string,
): ConfigError {
  const lines = [...missing.map(({ key }) => `${key} is missing: give ${howToGive(key)}`), ...others];
  return new ConfigError(
    `${name} has ${lines.length} problem(s):\n${lines.map((line) => `  ${line}`).join('\n')}`,
    { hint: 'q-ponder ... --dry-run prints every key with its value' },
  );
}

/** A configuration as YAML, the description of each key as a comment behind it. */
export function describedYaml(schema: z.ZodType, config: unknown): string {
  const document = new YamlDocument(config);
  if (isMap(document.contents)) addComments(document.contents, schema);
  return document.toString({ lineWidth: 0 });
}

function addComments(map: YAMLMap, schema: z.ZodType): void {
  const shape = objectShape(schema);
  if (shape === undefined) return;
  for (const { key, value } of map.items) {
    const inner = shape[isScalar(key) ? String(key.value) : String(key)];
    if (inner === undefined) continue;
    const description = descriptionOf(inner);
    if (isMap(value) && value.items.length > 0) {
      if (description !== undefined && isScalar(key)) key.commentBefore = ` ${description}`;
      addComments(value, inner);
    } else if (description !== undefined && isScalar(value)) {
      value.comment = ` ${description}`;
    } else if (description !== undefined && isScalar(key)) {
      key.commentBefore = ` ${description}`;
    }
  }
}

/** The schema inside defaults, null and the like; undefined at the core. */
function unwrapped(schema: z.ZodType): z.ZodType | undefined {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) {
    return schema.unwrap() as z.ZodType;
  }
  return undefined;
}

function descriptionOf(schema: z.ZodType | undefined): string | undefined {
  if (schema === undefined) return undefined;
  return schema.description ?? descriptionOf(unwrapped(schema));
}

function objectShape(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> | undefined {
  if (schema === undefined) return undefined;
  if (schema instanceof z.ZodObject) return schema.shape as Readonly<Record<string, z.ZodType>>;
  return objectShape(unwrapped(schema));
}
