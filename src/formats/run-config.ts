import { z } from 'zod';
import { ConfigError, type PlainObject, textIfPresent, writeFileAtomic } from '../core/index.ts';

const recordSchema = z.object({
  stage: z.string(),
  config: z.record(z.string(), z.unknown()),
  inputs: z.record(z.string(), z.string()).optional(),
});

/** Hashes of what a run reads, by name: paths may stay the same while the files behind them change. */
export type RunInputs = Readonly<Record<string, string>>;

/** What a run was started with: the stage's name, its whole resolved configuration and its inputs. */
export interface RunConfig {
  stage: string;
  config: PlainObject;
  /** Absent in runs of versions that did not record them; those continue on trust. */
  inputs?: RunInputs | undefined;
}

/** Dotted keys and JSON texts of all leaves; empty objects and arrays are leaves of their own. */
function leaves(value: unknown, path: string, found: Map<string, string>): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    for (const [key, inner] of Object.entries(value)) leaves(inner, path ? `${path}.${key}` : key, found);
  } else {
    found.set(path, JSON.stringify(value));
  }
  return found;
}

export interface ConfigDifference {
  key: string;
  /** JSON text, or "(absent)". */
  before: string;
  after: string;
}

/** The leaves in which two configurations differ, by dotted key in the order of the first. */
export function configDifferences(before: PlainObject, after: PlainObject): ConfigDifference[] {
  const old = leaves(before, '', new Map());
  // Through JSON, as the recorded one has been: that drops undefined and turns NaN into null.
  const now = leaves(JSON.parse(JSON.stringify(after)), '', new Map());
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => old.get(key) !== now.get(key))
    .map((key) => ({ key, before: old.get(key) ?? '(absent)', after: now.get(key) ?? '(absent)' }));
}

/**
 * A dotted key (or section) that a continued run may change; or one that names an input by its path, which may have
 * been moved: its content, told by the hashes of the inputs, must be the same.
 */
export type MayDiffer = string | { movedInput: string };

const covers = (prefix: string, key: string): boolean => key === prefix || key.startsWith(`${prefix}.`);

const isFree = (key: string, mayDiffer: readonly MayDiffer[]): boolean =>
  mayDiffer.some((allowed) => typeof allowed === 'string' && covers(allowed, key));

const isMovedInput = (key: string, mayDiffer: readonly MayDiffer[]): boolean =>
  mayDiffer.some((allowed) => typeof allowed === 'object' && covers(allowed.movedInput, key));

export async function readRunConfig(path: string): Promise<RunConfig | null> {
  const text = await textIfPresent(path);
  if (text === null) return null;
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new ConfigError(`${path} is not the configuration of a run`, {
      hint: 'choose another run folder',
      cause: error,
    });
  }
}

export async function writeRunConfig(path: string, run: RunConfig): Promise<void> {
  const { stage, config, inputs } = run;
  await writeFileAtomic(path, `${JSON.stringify({ stage, config, inputs }, null, 2)}\n`);
}

/** Refuses to continue a run under another configuration or from other inputs, with all that differs. */
export function assertSameRun(
  folder: string,
  recorded: RunConfig,
  wanted: RunConfig,
  mayDiffer: readonly MayDiffer[],
): void {
  if (recorded.stage !== wanted.stage) {
    throw new ConfigError(`${folder} holds a run of "${recorded.stage}", asked for was "${wanted.stage}"`, {
      hint: 'choose another run folder',
    });
  }
  const all = configDifferences(recorded.config, wanted.config).filter(({ key }) => !isFree(key, mayDiffer));
  const moved = all.filter(({ key }) => isMovedInput(key, mayDiffer));
  // Without hashes nothing says that another path leads to the same content.
  const hashed = recorded.inputs !== undefined && wanted.inputs !== undefined;
  const differences = hashed ? all.filter((difference) => !moved.includes(difference)) : all;
  if (differences.length === 0) {
    assertSameInputs(folder, recorded.inputs, wanted.inputs, moved);
    return;
  }
  throw new ConfigError(
    `${folder} was started with a configuration that differs in ${differences.length} key(s):\n${differences.map(told).join('\n')}`,
    {
      hint:
        otherVersion(differences, recorded, wanted) ??
        'repeat the settings it was started with, or choose another run folder',
    },
  );
}

/** Sections that one side lacks altogether: a resolved configuration names every one, so the version is another. */
function otherVersion(
  differences: readonly ConfigDifference[],
  { config: before }: RunConfig,
  { config: after }: RunConfig,
): string | null {
  const sections = [...new Set(differences.map(({ key }) => key.split('.')[0]!))];
  const unknown = sections.filter((key) => before[key] === undefined);
  const gone = sections.filter((key) => after[key] === undefined);
  if (unknown.length + gone.length === 0) return null;
  const found = [
    ...(unknown.length === 0 ? [] : [`did not know ${unknown.join(', ')}`]),
    ...(gone.length === 0 ? [] : [`had ${gone.join(', ')}`]),
  ];
  return `the run is of another version of q-ponder, which ${found.join(' and ')}: finish it with that version, or choose another run folder`;
}

const told = ({ key, before, after }: ConfigDifference): string =>
  `  ${key}: the run has ${before}, got ${after}`;

function assertSameInputs(
  folder: string,
  recorded: RunInputs | undefined,
  wanted: RunInputs | undefined,
  moved: readonly ConfigDifference[],
): void {
  if (recorded === undefined || wanted === undefined) return;
  const short = (hash: string | undefined): string => hash?.slice(0, 12) ?? '(absent)';
  const lines = [...new Set([...Object.keys(recorded), ...Object.keys(wanted)])]
    .filter((name) => recorded[name] !== wanted[name])
    .map(
      (name) => `  ${name}: the run started from ${short(recorded[name])}, now it is ${short(wanted[name])}`,
    );
  if (lines.length === 0) return;
  const paths =
    moved.length === 0 ? '' : `\nand the configuration names other paths:\n${moved.map(told).join('\n')}`;
  throw new ConfigError(
    `${folder} was started from other content of ${lines.length} input(s) (SHA-256):\n${lines.join('\n')}${paths}`,
    {
      hint: 'restore these inputs, or choose another run folder; a moved input may have another path, not other content',
    },
  );
}
