import { closeSync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { asStorageError, makeFolder } from '../../core/index.ts';
import { appendFully, forceToDevice } from '../append.ts';
import { fileVersionEvent, scalarsEvent, sessionStartEvent, textEvent } from './event.ts';
import { tfRecord } from './tf-record.ts';

export interface EventsFileOptions {
  /** First step that this file may hold. Readers drop this step and later ones of older files. */
  firstStep: number;
  /** Unix seconds; for tests. */
  now?: () => number;
}

/**
 * A TensorBoard event file that is being written. Each session of a run writes a file of its own, as TensorBoard
 * expects, so nothing that is on the disk is ever changed: a killed process leaves at most one torn record at the end
 * of its file, where readers stop and go on to the next file.
 */
export class EventsFile {
  readonly path: string;
  readonly #now: () => number;
  #descriptor: number | null;

  private constructor(path: string, descriptor: number, now: () => number) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#now = now;
  }

  /** Begins a file in a folder, which is created when absent. */
  static async create(folder: string, options: EventsFileOptions): Promise<EventsFile> {
    const { firstStep, now = () => Date.now() / 1000 } = options;
    await makeFolder(folder);
    const path = join(folder, await nextName(folder, now()));
    let descriptor: number;
    try {
      descriptor = openSync(path, 'wx');
    } catch (error) {
      throw asStorageError(error, `opening ${path}`);
    }
    const file = new EventsFile(path, descriptor, now);
    try {
      file.#append(fileVersionEvent(now()), sessionStartEvent({ wallTime: now(), step: firstStep }));
    } catch (error) {
      file.close();
      throw error;
    }
    return file;
  }

  /** Says that the run goes on at an earlier step: readers drop what they have read of it and of later ones. */
  restart(step: number): void {
    this.#append(sessionStartEvent({ wallTime: this.#now(), step }));
  }

  /** Values of a step by name. Those that are not finite are written too: TensorBoard marks them as such. */
  scalars(step: number, values: Readonly<Record<string, number>>): void {
    if (Object.keys(values).length > 0) this.#append(scalarsEvent({ wallTime: this.#now(), step }, values));
  }

  /** Markdown, shown on the page "Text". */
  text(step: number, name: string, text: string): void {
    this.#append(textEvent({ wallTime: this.#now(), step }, name, text));
  }

  /** Forces the records to the device. */
  sync(): void {
    if (this.#descriptor !== null) forceToDevice(this.#descriptor, this.path);
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #append(...events: readonly Uint8Array[]): void {
    if (this.#descriptor === null) throw new Error(`${this.path} is closed`);
    const bytes = Buffer.concat(events.map(tfRecord));
    appendFully(this.#descriptor, bytes, this.path);
  }
}

/** Readers take the files of a folder in the order of their names, so a later one must have a later second. */
async function nextName(folder: string, now: number): Promise<string> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw asStorageError(error, `reading ${folder}`);
  }
  const newest = names
    .map((name) => Number(/^events\.out\.tfevents\.(\d+)\./.exec(name)?.[1] ?? 0))
    .reduce((latest, second) => Math.max(latest, second), 0);
  const second = Math.max(Math.floor(now), newest + 1);
  return `events.out.tfevents.${String(second).padStart(10, '0')}.${hostname()}.${process.pid}.0`;
}
