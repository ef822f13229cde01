import { closeSync, openSync } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { asStorageError, StorageError } from '../core/index.ts';
import { appendFully, forceToDevice } from './append.ts';

/**
 * A JSON Lines file of rows `{step, ...}` with steps that never fall. Rows are written at once, so a killed
 * process loses none, and the file can be cut back to any step: what a resumed run needs.
 */
export class RunLog {
  readonly path: string;
  #descriptor: number | null;
  #lastStep: number;

  private constructor(path: string, descriptor: number, lastStep: number) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#lastStep = lastStep;
  }

  /** Opens for appending after cutting off every row of a step later than `lastStep` and a torn last row. */
  static async open(path: string, lastStep: number): Promise<RunLog> {
    const kept = await cutAfterStep(path, lastStep);
    try {
      return new RunLog(path, openSync(path, 'a'), kept);
    } catch (error) {
      throw asStorageError(error, `opening ${path}`);
    }
  }

  /** Appends one row. Numbers that are not finite become null: JSON has no NaN, and null is not a number. */
  append(step: number, row: object): void {
    if (this.#descriptor === null) throw new Error(`${this.path} is closed`);
    if ('step' in row) throw new RangeError(`${this.path}: a row may not hold its own "step"`);
    if (!Number.isSafeInteger(step) || step < 0 || step < this.#lastStep) {
      throw new RangeError(`${this.path}: got step ${step} after step ${this.#lastStep}`);
    }
    const bytes = Buffer.from(`${JSON.stringify({ step, ...row })}\n`);
    appendFully(this.#descriptor, bytes, this.path);
    this.#lastStep = step;
  }

  /** Cuts off every row of a step later than `lastStep`; the next row follows what is left. */
  async cutAfter(lastStep: number): Promise<void> {
    this.#lastStep = await cutAfterStep(this.path, lastStep);
  }

  /** Forces the rows to the device. */
  sync(): void {
    if (this.#descriptor !== null) forceToDevice(this.#descriptor, this.path);
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

/**
 * Cuts a log after the last row whose step is at most `lastStep`; returns that row's step, or -1. Cutting is
 * one truncate call: a crash leaves the old file or the new one, and it needs no space on a full disk.
 */
async function cutAfterStep(path: string, lastStep: number): Promise<number> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return -1;
    throw asStorageError(error, `reading ${path}`);
  }
  let end = 0;
  let kept = -1;
  let number = 0;
  try {
    const { size } = await file.stat();
    const input = file.createReadStream({ encoding: 'utf8', autoClose: false });
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      const next = end + Buffer.byteLength(line) + 1;
      if (next > size) break; // The last row has no line end: its write was cut short.
      const step = stepOfRow(line, path, number);
      if (step > lastStep) break;
      end = next;
      kept = step;
    }
    if (end < size) await truncate(path, end);
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  } finally {
    await file.close();
  }
  return kept;
}

function stepOfRow(line: string, path: string, number: number): number {
  let step: unknown;
  try {
    step = (JSON.parse(line) as { step?: unknown } | null)?.step;
  } catch (error) {
    throw new StorageError(`${path}:${number} is not a row of this run: ${(error as Error).message}`, {
      hint: 'remove that line if the file was edited by hand, or start in a new run folder',
    });
  }
  if (typeof step !== 'number') {
    throw new StorageError(`${path}:${number} has no step`, {
      hint: 'remove that line if the file was edited by hand, or start in a new run folder',
    });
  }
  return step;
}
