import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  asStorageError,
  ConfigError,
  listNames,
  type MetricSink,
  makeFolder,
  type PlainObject,
  writeFileAtomic,
} from '../core/index.ts';
import {
  type BestPointer,
  type Checkpoint,
  checkpointSteps,
  newestCheckpoint,
  pruneCheckpoints,
  removeUnfinished,
  writeCheckpoint,
} from './checkpoints.ts';
import { assertSameRun, type RunInputs, readRunConfig, writeRunConfig } from './run-config.ts';
import { takeRunLock } from './run-lock.ts';
import { RunLog } from './run-log.ts';

export interface OpenRunOptions {
  /** The stage's resolved configuration, as recorded in config.json. */
  config: PlainObject;
  /** Name of the stage, for example "grpo"; a folder holds one run of one stage. */
  stage: string;
  /** SHA-256 of the files the run reads, by name; a run is not continued from other ones. */
  inputs?: RunInputs;
  /** What to do about a run that is already there: continue it (default), demand one, or refuse it. */
  resume?: 'auto' | 'required' | 'never';
  /** How many of the newest checkpoints stay, besides the best one. Default 3. */
  keepCheckpoints?: number;
  /** Dotted keys (or sections) of the configuration that a resumed run may change. Default: none. */
  mayDiffer?: readonly string[];
  /** Receives one line for each damaged checkpoint that is passed over, and the step a run continues from. */
  note?: (line: string) => void;
}

/**
 * The folder of one training run:
 * - `config.json`: stage, resolved configuration and the hashes of the inputs,
 * - `metrics.jsonl`, `samples.jsonl`: rows `{step, ...}` free of wall-clock values, so that an interrupted
 *   and resumed run leaves the same bytes as an undisturbed one,
 * - `timings.jsonl`: rows `{step, time, ...}` with what differs from run to run, `time` in Unix seconds,
 * - `checkpoints/step-00000100/`: whole folders with a manifest of hashes, and `best.json` to the best one.
 *
 * Rows of a step belong before its checkpoint: what was logged after the last checkpoint is cut on resume.
 */
export class RunFolder implements MetricSink {
  readonly folder: string;
  /** The verified checkpoint this run continues from; null for a fresh start. */
  readonly resumedFrom: Checkpoint | null;
  readonly #keepCheckpoints: number;
  readonly #note: (line: string) => void;
  readonly #unlock: () => Promise<void>;
  readonly #logs: { metrics: RunLog; samples: RunLog; timings: RunLog };
  #best: BestPointer | null;

  /** Use `openRun`. */
  constructor(
    folder: string,
    resumedFrom: Checkpoint | null,
    logs: { metrics: RunLog; samples: RunLog; timings: RunLog },
    unlock: () => Promise<void>,
    keepCheckpoints: number,
    note: (line: string) => void,
  ) {
    this.folder = folder;
    this.resumedFrom = resumedFrom;
    this.#logs = logs;
    this.#unlock = unlock;
    this.#keepCheckpoints = keepCheckpoints;
    this.#note = note;
    this.#best = resumedFrom?.best ?? null;
  }

  /** One row of metrics.jsonl. Values that are not finite are recorded as null, "no value". */
  metrics(step: number, values: Record<string, number>): void {
    this.#logs.metrics.append(step, values);
  }

  /** One row of timings.jsonl: seconds, rates, memory, whatever depends on the machine and the day. */
  timings(step: number, values: Record<string, number>): void {
    this.#logs.timings.append(step, { time: Date.now() / 1000, ...values });
  }

  /** One row of samples.jsonl, for example a rollout with its reward terms. */
  sample(step: number, row: object): void {
    this.#logs.samples.append(step, row);
  }

  /**
   * Writes the checkpoint of a step: `fill` writes any files into the folder it is given. `best` says that
   * it is the best so far by a validation metric. Older checkpoints past `keepCheckpoints` are removed.
   */
  async saveCheckpoint(
    step: number,
    fill: (folder: string) => Promise<void>,
    best?: { metric: string; value: number },
  ): Promise<Checkpoint> {
    const pointer = best === undefined ? this.#best : { step, ...best };
    // The rows of this step must be as durable as the checkpoint that stands for them.
    for (const log of Object.values(this.#logs)) log.sync();
    const checkpoint = await writeCheckpoint(join(this.folder, 'checkpoints'), step, pointer, fill);
    this.#best = pointer;
    await writeBest(this.folder, pointer);
    await pruneCheckpoints(join(this.folder, 'checkpoints'), this.#keepCheckpoints);
    return checkpoint;
  }

  /** The newest checkpoint whose files match their hashes; damaged ones are passed over and noted. */
  latestCheckpoint(): Promise<Checkpoint | null> {
    return newestCheckpoint(join(this.folder, 'checkpoints'), this.#note);
  }

  /** The best checkpoint so far, as in best.json. */
  get best(): BestPointer | null {
    return this.#best;
  }

  /** Closes the logs and gives the lock back. */
  async close(): Promise<void> {
    for (const log of Object.values(this.#logs)) log.close();
    await this.#unlock();
  }
}

async function writeBest(folder: string, best: BestPointer | null): Promise<void> {
  if (best !== null) await writeFileAtomic(join(folder, 'best.json'), `${JSON.stringify(best)}\n`);
}

/** Names that a run leaves which was stopped before it had written its config.json. */
const BEGINNINGS = /^(run\.lock(\.stale-\d+)?|\.config\.json\.tmp-.*)$/;

/** Refuses a folder with other people's files in it: a run must not be mixed with them. */
async function refuseForeignFolder(folder: string): Promise<void> {
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    throw asStorageError(error, `reading ${folder}`);
  }
  if (names.includes('config.json')) return;
  if ((await checkpointSteps(join(folder, 'checkpoints'))).length > 0) {
    throw new ConfigError(`${folder} holds checkpoints but no config.json, so what they are of is unknown`, {
      hint: 'restore config.json, or choose another run folder',
    });
  }
  const foreign = names.filter((name) => !BEGINNINGS.test(name));
  if (foreign.length === 0) return;
  throw new ConfigError(`${folder} is no run folder, and it is not empty: it holds ${listNames(foreign)}`, {
    hint: 'choose a new or empty run folder',
  });
}

/** Creates a run folder, or opens the run in it to continue: see `RunFolder` and `OpenRunOptions`. */
export async function openRun(folder: string, options: OpenRunOptions): Promise<RunFolder> {
  const { config, stage, inputs, resume = 'auto', keepCheckpoints = 3, mayDiffer = [] } = options;
  const note = options.note ?? (() => undefined);
  if (!Number.isInteger(keepCheckpoints) || keepCheckpoints < 1) {
    throw new ConfigError(`keepCheckpoints: got ${keepCheckpoints}, allowed is a whole number from 1`);
  }
  if (resume === 'required' && (await readRunConfig(join(folder, 'config.json'))) === null) {
    throw new ConfigError(`${folder} holds no run to resume`, { hint: 'check the path of the run folder' });
  }
  await makeFolder(folder);
  await refuseForeignFolder(folder);
  const unlock = await takeRunLock(join(folder, 'run.lock'));
  const opened: RunLog[] = [];
  try {
    // Read under the lock: another process may just have started the run.
    const recorded = await readRunConfig(join(folder, 'config.json'));
    if (recorded !== null && resume === 'never') {
      throw new ConfigError(`${folder} already holds a run`, {
        hint: 'choose another run folder, or resume that one',
      });
    }
    if (recorded !== null) assertSameRun(folder, recorded, { stage, config, inputs }, mayDiffer);
    await writeRunConfig(join(folder, 'config.json'), { stage, config, inputs: inputs ?? recorded?.inputs });
    await removeUnfinished(join(folder, 'checkpoints'));
    const from = await newestCheckpoint(join(folder, 'checkpoints'), note);
    if (from !== null) note(`continuing from step ${from.step} of ${folder}`);
    await writeBest(folder, from?.best ?? null);
    const openLog = async (name: string): Promise<RunLog> => {
      const log = await RunLog.open(join(folder, name), from?.step ?? -1);
      opened.push(log);
      return log;
    };
    const logs = {
      metrics: await openLog('metrics.jsonl'),
      samples: await openLog('samples.jsonl'),
      timings: await openLog('timings.jsonl'),
    };
    return new RunFolder(folder, from, logs, unlock, keepCheckpoints, note);
  } catch (error) {
    for (const log of opened) log.close();
    await unlock();
    throw error;
  }
}
