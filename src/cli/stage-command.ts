import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import {
  InterruptedError,
  mergeConfig,
  type PlainObject,
  type Progress,
  parseSetting,
  printable,
  readConfigFile,
  resolveConfig,
  silentProgress,
} from '../core/index.ts';
import type { CommandDefinition } from './command.ts';
import { listenForInterrupt } from './interrupt.ts';
import { describedYaml, findProblems, missingKeysError, nestPath, planWithGaps } from './missing-keys.ts';
import { printLine } from './print-line.ts';
import { createTerminalProgress } from './terminal-progress.ts';

/** Backends of the engine, in the order of preference. */
export const BACKENDS = ['onnx', 'tensorflow', 'cpu'] as const;
export type Backend = (typeof BACKENDS)[number];

export interface StageContext {
  progress: Progress;
  /** Aborts, with an InterruptedError as its reason, when the user wants to stop. */
  signal: AbortSignal;
  /** --backend; undefined leaves the choice to the engine. */
  backend: Backend | undefined;
  /** --threads; undefined leaves the choice to the stage. */
  threads: number | undefined;
  /** Writes one line of results to standard output. */
  print(line: string): void;
}

/** A stage as the command line sees it: a strict schema with defaults for every key, and what to do. */
export interface Stage<T> {
  schema: z.ZodType<T>;
  run(config: T, context: StageContext): Promise<void>;
  /** For --dry-run, after the configuration: what running would need, as YAML comments. */
  plan?(config: T, context: Pick<StageContext, 'print'>): Promise<void>;
}

/** An argument or option that is a short name for a key of the configuration. */
export interface Shortcut {
  /** As commander writes them: '--out <folder>', '<csv>', '[images...]'. */
  flags: string;
  /** Dotted key of the configuration. */
  key: string;
  description: string;
  parse?: (text: string) => unknown;
}

export interface StageCommandOptions<T> {
  path: CommandDefinition['path'];
  summary: string;
  shortcuts?: readonly Shortcut[];
  /** Which of the options about the machine mean something to this stage. */
  offers: readonly ('backend' | 'threads')[];
  /** The stage saves its state when it is stopped, and the same command continues it. */
  continues?: boolean;
  /** Imports the stage. Called only when the command runs, so that --help stays fast. */
  load(): Promise<Stage<T>>;
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** A number for commander. Blank text, an unset variable for example, is none: not the 0 that `Number` makes of it. */
export const parseNumber = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

/** As the engine allows: more threads than this bring a machine to a halt instead of speeding it up. */
const THREADS_PER_CORE = 4;

/** --threads: a whole number that this machine can run, for commander. */
export function parseThreads(text: string): number {
  const value = Number(text);
  const most = THREADS_PER_CORE * availableParallelism();
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new InvalidArgumentError(`allowed is a whole number from 1 to ${most}, four for each core`);
  }
  return value;
}

const nest = (key: string, value: unknown): PlainObject => nestPath(key.split('.'), value);

/** How a user gives a key on the command line. */
function howToGive(key: string, shortcuts: readonly Shortcut[], command: string): string {
  const shortcut = shortcuts.find((one) => one.key === key);
  if (shortcut === undefined) return `--set ${key}=<value>`;
  if (!isArgument(shortcut)) return shortcut.flags;
  return `it after the command, as in "q-ponder ${command} ${shortcut.flags.replace('[', '<').replace(']', '>')}"`;
}

interface CommonOptions {
  config?: string[];
  set?: string[];
  dryRun?: true;
  quiet?: true;
  backend?: Backend;
  threads?: number;
}

const isArgument = (shortcut: Shortcut): boolean => !shortcut.flags.startsWith('-');

/** Values of the shortcuts that were given, as one layer each. */
function shortcutLayers(command: Command, shortcuts: readonly Shortcut[]): PlainObject[] {
  const options = command.opts<Record<string, unknown>>();
  const given: unknown[] = [...command.processedArgs];
  return shortcuts.flatMap((shortcut) => {
    const value = isArgument(shortcut) ? given.shift() : options[new Option(shortcut.flags).attributeName()];
    const absent = value === undefined || (Array.isArray(value) && value.length === 0);
    return absent ? [] : [nest(shortcut.key, value)];
  });
}

/**
 * A command around a stage: configuration from the schema's defaults, then --config files in order, then
 * arguments and options of its own, then --set in order; --dry-run; progress; stopping by signal.
 */
export function defineStageCommand<T>(options: StageCommandOptions<T>): CommandDefinition {
  const { path, summary, shortcuts = [], offers, continues = false, load } = options;
  const configure = (command: Command): void => {
    for (const shortcut of shortcuts) {
      const { flags, description, parse } = shortcut;
      if (isArgument(shortcut)) {
        if (parse === undefined) command.argument(flags, description);
        else command.argument(flags, description, parse);
      } else if (parse === undefined) command.option(flags, description);
      else command.option(flags, description, parse);
    }
    command
      .option('--config <file>', 'YAML configuration; may be repeated, later files win', collect)
      .option('--set <key=value>', 'one setting, a.b=c; may be repeated and wins over files', collect)
      .option('--dry-run', 'print the resolved configuration and stop')
      .option('--quiet', 'no progress');
    if (offers.includes('backend')) {
      command.addOption(new Option('--backend <name>', 'numeric backend').choices(BACKENDS));
    }
    if (offers.includes('threads')) {
      command.option('--threads <n>', 'how many threads or processes to use', parseThreads);
    }
    command.action(async () => {
      const common = command.opts<CommonOptions>();
      const layers: PlainObject[] = [];
      for (const file of common.config ?? []) layers.push(await readConfigFile(file));
      layers.push(...shortcutLayers(command, shortcuts), ...(common.set ?? []).map(parseSetting));
      const stage = await load();
      const words = path.join(' ');
      const name = `the configuration of "${words}"`;
      const give = (key: string): string => howToGive(key, shortcuts, words);
      const given = layers.reduce(mergeConfig, {});
      const problems = findProblems(stage.schema, given);
      if (problems.missing.length > 0) {
        const plan = common.dryRun ? planWithGaps(stage.schema, given) : undefined;
        if (plan === undefined) throw missingKeysError(name, problems, give);
        process.stdout.write(describedYaml(stage.schema, plan));
        for (const { key } of problems.missing)
          process.stderr.write(`${printable(`${key} is missing: give ${give(key)}`)}\n`);
        return;
      }
      const config = resolveConfig(stage.schema, layers, name);
      if (common.dryRun) {
        process.stdout.write(describedYaml(stage.schema, config));
        await stage.plan?.(config, { print: printLine });
        return;
      }
      await runStage(stage, config, common, continues);
    });
  };
  return { path, summary, configure };
}

async function runStage<T>(
  stage: Stage<T>,
  config: T,
  common: CommonOptions,
  continues: boolean,
): Promise<void> {
  const progress = common.quiet ? silentProgress : createTerminalProgress();
  const interrupt = listenForInterrupt((line) => progress.note(line), { continues });
  try {
    await stage.run(config, {
      progress,
      signal: interrupt.signal,
      backend: common.backend,
      threads: common.threads,
      print: printLine,
    });
  } catch (error) {
    // Node's own functions answer an abort with an AbortError of theirs.
    const aborted = interrupt.signal.aborted && (error as Error | undefined)?.name === 'AbortError';
    const reason: unknown = interrupt.signal.reason;
    throw aborted && reason instanceof InterruptedError ? reason : error;
  } finally {
    progress.stop();
    interrupt.stop();
  }
}
