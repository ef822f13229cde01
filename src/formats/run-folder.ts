import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  asStorageError,
  ConfigError,
  listNames,
  type MetricSink,
  makeFolder,
  type PlainObject,
  readAllJsonl,
  writeFileAtomic,
} from '../core/index.ts';
import {
  type BestPointer,
  type Checkpoint,
  checkpointSteps,
  newestCheckpoint,
  pruneCheckpoints,
  removeCheckpointsAfter,
  removeUnfinished,
  verifyCheckpoint,
  writeCheckpoint,
} from './checkpoints.ts';
import {
  assertSameRun,
  type MayDiffer,
  type RunInputs,
  readRunConfig,
  writeRunConfig,
} from './run-config.ts';
import { takeRunLock } from './run-lock.ts';
import { RunLog } from './run-log.ts';
import { EventsFile } from './tensorboard/index.ts';

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
  /** What a resumed run may change of the configuration: dotted keys (or sections), and paths of inputs. Default: none. */
  mayDiffer?: readonly MayDiffer[];
  /** Also write metrics, timings and events as TensorBoard event files. Default false. */
  tensorboard?: boolean;
  /** Receives one line for each damaged checkpoint that is passed over, and the step a run continues from. */
  note?: (line: string) => void;
}

interface RunLogs {
  metrics: RunLog;
  samples: RunLog;
  timings: RunLog;
  events: RunLog;
}

/**
 * The folder of one training run:
 * - `config.json`: stage, resolved configuration and the hashes of the inputs,
 * - `metrics.jsonl`, `samples.jsonl`: rows `{step, ...}` free of wall-clock values, so that an interrupted
 *   and resumed run leaves the same bytes as an undisturbed one,
 * - `events.jsonl`: rows `{step, message, ...}` of what was out of the ordinary, a watchdog's bark for example,
 * - `timings.jsonl`: rows `{step, time, ...}` with what differs from run to run, `time` in Unix seconds,
 * - `checkpoints/step-00000100/`: whole folders with a manifest of hashes, and `best.json` to the best one,
 * - `tensorboard/`: event files with the same values, one for each session, where they were asked for.
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
  readonly #logs: RunLogs;
  readonly #tensorboard: EventsFile | null;
  #best: BestPointer | null;
  #rollBacks: number;

  /** Use `openRun`. */
  constructor(
    folder: string,
    resumedFrom: Checkpoint | null,
    logs: RunLogs,
    tensorboard: EventsFile | null,
    rollBacks: number,
    unlock: () => Promise<void>,
    keepCheckpoints: number,
    note: (line: string) => void,
  ) {
    this.folder = folder;
    this.resumedFrom = resumedFrom;
    this.#logs = logs;
    this.#tensorboard = tensorboard;
    this.#rollBacks = rollBacks;
    this.#unlock = unlock;
    this.#keepCheckpoints = keepCheckpoints;
    this.#note = note;
    this.#best = resumedFrom?.best ?? null;
  }

  /** One row of metrics.jsonl. Values that are not finite are recorded as null, "no value". */
  metrics(step: number, values: Record<string, number>): void {
    this.#logs.metrics.append(step, values);
    this.#tensorboard?.scalars(step, values);
  }

  /** One row of timings.jsonl: seconds, rates, memory, whatever depends on the machine and the day. */
  timings(step: number, values: Record<string, number>): void {
    this.#logs.timings.append(step, { time: Date.now() / 1000, ...values });
    const named = Object.entries(values).map(([name, value]) => [`timings/${name}`, value]);
    this.#tensorboard?.scalars(step, Object.fromEntries(named));
  }

  /** One row of samples.jsonl, for example a rollout with its reward terms. */
  sample(step: number, row: object): void {
    this.#logs.samples.append(step, row);
  }

  /** One row of events.jsonl: what was out of the ordinary, with a sentence for people. */
  event(step: number, row: { message: string }): void {
    this.#logs.events.append(step, row);
    this.#tensorboard?.text(step, 'events', row.message);
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
    this.#tensorboard?.sync();
    const checkpoint = await writeCheckpoint(join(this.folder, 'checkpoints'), step, pointer, fill);
    this.#best = pointer;
    await writeBest(this.folder, pointer);
    await pruneCheckpoints(join(this.folder, 'checkpoints'), this.#keepCheckpoints);
    return checkpoint;
  }

  /** How often the run went back to an older checkpoint. */
  get rollBacks(): number {
    return this.#rollBacks;
  }

  /**
   * Goes back from step `from` to the checkpoint of step `to`, which is verified and returned. Newer checkpoints are
   * removed and the logs are cut as on resume; then `row` is recorded in events.jsonl as an event of step `to`, so that
   * it stays. A run that repeated all it did would come to the same end: `rollBacks` tells the ways apart, as a part of
   * the seed for example.
   */
  async rollBack({ from, to }: { from: number; to: number }, row: { message: string }): Promise<Checkpoint> {
    const checkpoints = join(this.folder, 'checkpoints');
    const checkpoint = await verifyCheckpoint(checkpoints, to);
    await removeCheckpointsAfter(checkpoints, to);
    this.#best = checkpoint.best;
    if (checkpoint.best === null) await rm(join(this.folder, 'best.json'), { force: true });
    await writeBest(this.folder, checkpoint.best);
    for (const log of Object.values(this.#logs)) await log.cutAfter(to);
    this.#tensorboard?.restart(to + 1);
    this.#rollBacks++;
    const recorded = { ...row, rolledBackFrom: from, rollBacks: this.#rollBacks };
    this.event(to, recorded);
    this.#logs.events.sync();
    return checkpoint;
  }

  /** The newest checkpoint whose files match their hashes; damaged ones are passed over and noted. */
  latestCheckpoint(): Promise<Checkpoint | null> {
    return newestCheckpoint(join(this.folder, 'checkpoints'), this.#note);
  }

  /** Steps of the checkpoints there are, oldest first. */
  checkpointSteps(): Promise<number[]> {
    return checkpointSteps(join(this.folder, 'checkpoints'));
  }

  /** The best checkpoint so far, as in best.json. */
  get best(): BestPointer | null {
    return this.#best;
  }

  /** Closes the logs and gives the lock back. */
  async close(): Promise<void> {
    for (const log of Object.values(this.#logs)) log.close();
    this.#tensorboard?.close();
    await this.#unlock();
  }
}

async function writeBest(folder: string, best: BestPointer | null): Promise<void> {
  if (best !== null) await writeFileAtomic(join(folder, 'best.json'), `${JSON.stringify(best)}\n`);
}

const rollBackSchema = z.object({ rollBacks: z.int().min(0).default(0) });

async function rollBacksIn(events: string): Promise<number> {
  const rows = await readAllJsonl(events, rollBackSchema);
  return rows.reduce((most, { rollBacks }) => Math.max(most, rollBacks), 0);
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
  const { tensorboard = false } = options;
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
      events: await openLog('events.jsonl'),
    };
    const firstStep = from === null ? 0 : from.step + 1;
    const events = tensorboard ? await EventsFile.create(join(folder, 'tensorboard'), { firstStep }) : null;
    const rollBacks = await rollBacksIn(logs.events.path);
    return new RunFolder(folder, from, logs, events, rollBacks, unlock, keepCheckpoints, note);
  } catch (error) {
    for (const log of opened) log.close();
    await unlock();
    throw error;
  }
}
