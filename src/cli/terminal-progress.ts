import { clearLine, cursorTo } from 'node:readline';
import { type Options, SingleBar } from 'cli-progress';
import { type Progress, printable } from '../core/index.ts';

type Detail = Record<string, string | number>;

export interface TerminalProgressOptions {
  /** Where to draw; a bar when it is a terminal, plain lines otherwise. Default: standard error. */
  stream?: NodeJS.WriteStream;
  /** Milliseconds between plain lines. Default 5000. */
  intervalMs?: number;
  /** Milliseconds since some fixed moment. Default: the monotonic clock. */
  now?: () => number;
}

/** Seconds as people read them: 42s, 3m05s, 2h07m. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const pad = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${pad(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${pad(Math.floor((whole % 3600) / 60))}m`;
}

function formatDetail(detail: Detail): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}`)
    .map(printable)
    .join(', ');
}

/**
 * Rate and remaining time since the first update, so that a resumed job, whose first update is far from 0,
 * does not count what an earlier process did.
 */
class Pace {
  readonly #now: () => number;
  #first: { done: number; at: number } | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  describe(done: number, total: number): string {
    const at = this.#now();
    this.#first ??= { done, at };
    const seconds = (at - this.#first.at) / 1000;
    const rate = (done - this.#first.done) / seconds;
    if (!(seconds > 0 && rate > 0)) return '';
    const speed =
      rate >= 1 ? `${Number(rate.toPrecision(3))}/s` : `${Number((1 / rate).toPrecision(3))} s each`;
    return `${speed}, ETA ${formatDuration(Math.max(0, total - done) / rate)}`;
  }
}

const BAR: Options = {
  format: '{label} {bar} {value}/{total} {status}',
  barsize: 24,
  barCompleteChar: '█',
  barIncompleteChar: '░',
  // The process owns its signals, and a second Ctrl-C must not leave a terminal without a cursor.
  gracefulExit: false,
  hideCursor: false,
  linewrap: false,
  // A note has just overwritten the bar's line, which the bar cannot know.
  forceRedraw: true,
};

class BarProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #now: () => number;
  #bar: SingleBar | null = null;
  #pace: Pace;
  #total = 0;

  constructor(stream: NodeJS.WriteStream, now: () => number) {
    this.#stream = stream;
    this.#now = now;
    this.#pace = new Pace(now);
  }

  start(label: string, total: number): void {
    this.stop();
    this.#total = total;
    this.#pace = new Pace(this.#now);
    this.#bar = new SingleBar({ ...BAR, stream: this.#stream });
    this.#bar.start(total, 0, { label: printable(label), status: '' });
  }

  update(done: number, detail: Detail = {}): void {
    const parts = [this.#pace.describe(done, this.#total), formatDetail(detail)];
    this.#bar?.update(done, { status: parts.filter((part) => part !== '').join(', ') });
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = null;
  }

  note(line: string): void {
    if (this.#bar !== null) {
      cursorTo(this.#stream, 0);
      clearLine(this.#stream, 0);
    }
    this.#stream.write(`${printable(line)}\n`);
    this.#bar?.render();
  }
}

class LineProgress implements Progress {
  readonly #stream: NodeJS.WritableStream;
  readonly #now: () => number;
  readonly #intervalMs: number;
  #pace: Pace;
  #label = '';
  #total = 0;
  #nextAt = 0;
  /** The newest line that was not due yet; `stop` prints it, so that the end is always seen. */
  #pending: string | null = null;

  constructor(stream: NodeJS.WritableStream, intervalMs: number, now: () => number) {
    this.#stream = stream;
    this.#intervalMs = intervalMs;
    this.#now = now;
    this.#pace = new Pace(now);
  }

  start(label: string, total: number): void {
    this.stop();
    this.#label = printable(label);
    this.#total = total;
    this.#nextAt = this.#now();
    this.#pace = new Pace(this.#now);
  }

  update(done: number, detail: Detail = {}): void {
    const percent = this.#total > 0 ? ` (${Math.floor((100 * done) / this.#total)} %)` : '';
    const parts = [
      `${this.#label}: ${done}/${this.#total}${percent}`,
      this.#pace.describe(done, this.#total),
      formatDetail(detail),
    ];
    this.#pending = parts.filter((part) => part !== '').join(', ');
    if (this.#now() >= this.#nextAt) {
      this.#flush();
      this.#nextAt = this.#now() + this.#intervalMs;
    }
  }

  stop(): void {
    this.#flush();
  }

  note(line: string): void {
    this.#stream.write(`${printable(line)}\n`);
  }

  #flush(): void {
    if (this.#pending !== null) this.#stream.write(`${this.#pending}\n`);
    this.#pending = null;
  }
}

/**
 * Progress on standard error: a bar with rate, remaining time and the current values on a terminal, a plain
 * line every few seconds elsewhere. Labels, values and notes are made printable. A stage calls `update` once right after `start` with where it begins.
 */
export function createTerminalProgress(options: TerminalProgressOptions = {}): Progress {
  const { stream = process.stderr, intervalMs = 5000, now = () => performance.now() } = options;
  return stream.isTTY ? new BarProgress(stream, now) : new LineProgress(stream, intervalMs, now);
}
