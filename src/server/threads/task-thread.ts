import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type TransferListItem, Worker } from 'node:worker_threads';
import { ApiError } from '../http/api-error.ts';
import { type FromThread, receivedError, type ToThread } from './messages.ts';

export interface TaskOptions {
  transfer?: TransferListItem[];
  /** Tells the thread that nobody waits any more; the promise rejects with the signal's reason at once. */
  signal?: AbortSignal;
  onEvent?: (event: unknown) => void;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  onEvent: ((event: unknown) => void) | undefined;
}

/** A module beside the caller: TypeScript in the sources (run through tsx), JavaScript in the build. */
export const threadModule = (name: string, base: string): URL =>
  new URL(`./${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);

/** A thread of Node 20 takes no TypeScript as its first module, so from the sources a line of its own comes first. */
function startWorker(entry: URL, workerData: unknown): Worker {
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, { workerData });
  const tsx = createRequire(import.meta.url)
    .resolve('tsx/esm/api')
    .replace(/\.cjs$/, '.mjs');
  const [loader, module] = [pathToFileURL(tsx).href, entry.href].map((url) => JSON.stringify(url));
  const code = `import(${loader}).then(({ register }) => { register(); return import(${module}); })`;
  return new Worker(code, { eval: true, workerData, execArgv: [] });
}

/** A thread that answers tasks. When it ends unasked, whatever it held is rejected with WORKER_CRASHED. */
export class TaskThread<Info> {
  /** What the thread said of itself when it was open. Rejects when it cannot be opened. */
  readonly ready: Promise<Info>;
  /** The thread is gone. `crashed` unless it was told to close. */
  readonly ended: Promise<{ crashed: boolean }>;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #closing = false;
  #gone = false;

  constructor(entry: URL, workerData: unknown) {
    this.#worker = startWorker(entry, workerData);
    let opened: (info: Info) => void;
    let refused: (error: unknown) => void;
    this.ready = new Promise<Info>((resolve, reject) => {
      opened = resolve;
      refused = reject;
    });
    // Whoever restarts threads looks at `ended`; a rejection that nobody waits for must not end the process.
    this.ready.catch(() => undefined);
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'ready') opened(message.info as Info);
      else if (message.kind === 'unusable') refused(receivedError(message.error));
      else this.#receive(message);
    });
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#gone = true;
        refused(cause ?? new Error('the thread ended before it was open'));
        for (const { reject } of this.#pending.values()) reject(crashError());
        this.#pending.clear();
        resolve({ crashed: !this.#closing });
      });
    });
  }

  /** Tasks that are not answered yet. */
  get load(): number {
    return this.#pending.size;
  }

  run<Value>(task: unknown, { transfer = [], signal, onEvent }: TaskOptions = {}): Promise<Value> {
    if (this.#gone || this.#closing) return Promise.reject(crashError());
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    return new Promise<Value>((resolve, reject) => {
      const stop = (): void => {
        this.#send({ kind: 'cancel', id });
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
      const settle = (finish: () => void): void => {
        signal?.removeEventListener('abort', stop);
        finish();
      };
      this.#pending.set(id, {
        resolve: (value) => settle(() => resolve(value as Value)),
        reject: (error) => settle(() => reject(error)),
        onEvent,
      });
      this.#send({ kind: 'task', id, task }, transfer);
    });
  }

  /** Lets the thread finish what it has, then ends it. */
  async close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      if (!this.#gone) this.#send({ kind: 'close' });
    }
    await this.ended;
  }

  #send(message: ToThread, transfer: TransferListItem[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: Extract<FromThread, { id: number }>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if (message.kind === 'event') {
      pending.onEvent?.(message.event);
      return;
    }
    this.#pending.delete(message.id);
    if (message.kind === 'done') pending.resolve(message.value);
    else pending.reject(receivedError(message.error));
  }
}

const crashError = (): ApiError =>
  new ApiError('WORKER_CRASHED', 'the worker that held this request has ended', {
    hint: 'send it again; another worker has taken its place',
    retryAfter: 1,
  });
