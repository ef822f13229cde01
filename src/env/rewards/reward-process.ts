import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CallFailure, type CallValue } from './call.ts';
import type { FromProcess, ToProcess } from './messages.ts';
import type { RewardSample } from './types.ts';

/** Loading a module may take this long, whatever the deadline of a call. */
const LOAD_SECONDS = 60;
/** For the output of a process that has ended. */
const LAST_WORDS_MS = 500;
/** How V8 begins the report of its own end, which is of pages and means one thing. */
const FATAL = /<--- Last few GCs --->|# Fatal |^FATAL ERROR/m;

export interface RewardProcessOptions {
  /** file: URL of the user's module. */
  url: string;
  memoryMb: number;
  deadlineSeconds: number;
  /** Takes what the module prints. */
  print: (text: string) => void;
}

/** The module beside this file: TypeScript in the sources (run through tsx), JavaScript in the build. */
function startProcess(memoryMb: number): ChildProcess {
  const fromSource = import.meta.url.endsWith('.ts');
  const path = fileURLToPath(new URL(`./file-process${fromSource ? '.ts' : '.js'}`, import.meta.url));
  const loader = () => pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return fork(path, [], {
    execArgv: [`--max-old-space-size=${memoryMb}`, ...(fromSource ? ['--import', loader()] : [])],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

/** An idle child must not keep this process alive, a working one must. */
function keepAwake(child: ChildProcess, awake: boolean): void {
  const act = awake ? 'ref' : 'unref';
  child[act]();
  child.channel?.[act]();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.[act]();
}

/**
 * The process of a reward file, started when first needed and again after its end. One call at a time; a call that is
 * late ends the process. A thread would not do: some of what a user's function can do to its memory (an array that
 * grows without end) ends all threads of a process.
 */
export class RewardProcess {
  readonly #options: RewardProcessOptions;
  readonly #ended = new Set<Promise<void>>();
  /** Children whose memory ran out, by what they said last. */
  readonly #outOfMemory = new WeakSet<ChildProcess>();
  #child: ChildProcess | undefined;
  #nextId = 0;
  #closed = false;

  constructor(options: RewardProcessOptions) {
    this.#options = options;
  }

  /**
   * Loads the module. The batch size that it wants, if it says so.
   *
   * @throws CallFailure
   */
  async open(): Promise<number | null> {
    if (this.#closed) throw new CallFailure('the reward terms are closed', { retryable: false });
    const child = this.#start();
    const { url } = this.#options;
    const message = await this.#ask(child, { kind: 'load', url }, LOAD_SECONDS, 'the module was not loaded');
    if (message.kind === 'ready') return message.batchSize;
    this.#end(child);
    throw new CallFailure(`the module cannot be used: ${'problem' in message ? message.problem : ''}`);
  }

  /** @throws CallFailure */
  async run(samples: readonly RewardSample[]): Promise<CallValue[]> {
    if (this.#child === undefined) await this.open();
    const child = this.#child;
    if (child === undefined) throw new CallFailure('its process ended as soon as it was open');
    const call = { kind: 'score', id: this.#nextId++, samples } as const;
    const message = await this.#ask(child, call, this.#options.deadlineSeconds, 'no value');
    if (message.kind === 'done') return message.values;
    throw new CallFailure('problem' in message ? message.problem : message.kind);
  }

  /** Once this is done, no process is left. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#child !== undefined) this.#end(this.#child);
    await Promise.all(this.#ended);
  }

  #start(): ChildProcess {
    const { memoryMb, print } = this.#options;
    const child = startProcess(memoryMb);
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // It was never started, or cannot be reached; who waits for an answer hears of it by a listener of its own.
      child.on('error', () => child.pid === undefined && resolve());
    });
    this.#ended.add(ended);
    void ended.then(() => this.#ended.delete(ended));
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    child.stdout?.setEncoding('utf8').on('data', print);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (FATAL.test(text)) this.#outOfMemory.add(child);
      if (!this.#outOfMemory.has(child)) print(text);
    });
    this.#child = child;
    return child;
  }

  #end(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
    keepAwake(child, true);
    child.kill('SIGKILL');
  }

  /** Sends a message and waits for its answer. Late: the process is ended. Ended: the call has failed. */
  #ask(child: ChildProcess, question: ToProcess, seconds: number, nothing: string): Promise<FromProcess> {
    const isAnswer = (message: FromProcess): boolean =>
      question.kind === 'load'
        ? message.kind === 'ready' || message.kind === 'unusable'
        : 'id' in message && message.id === question.id;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        clearImmediate(waiting);
        clearTimeout(lastWords);
        child.off('message', onMessage).off('exit', onExit).off('close', onClose).off('error', onError);
        keepAwake(child, false);
        finish();
      };
      // The module may send messages of its own.
      const onMessage = (message: unknown): void => {
        if (typeof message !== 'object' || message === null || !('kind' in message)) return;
        if (isAnswer(message as FromProcess)) settle(() => resolve(message as FromProcess));
      };
      const onClose = (code: number | null, signal: string | null): void => {
        const why = this.#outOfMemory.has(child)
          ? `more memory than ${this.#options.memoryMb} MB or than an array can have`
          : (signal ?? `exit code ${code}`);
        settle(() => reject(new CallFailure(`its process ended: ${why}`)));
      };
      // What it said last says why, but a process of its own may hold its output open for ever.
      let lastWords: NodeJS.Timeout | undefined;
      const onExit = (code: number | null, signal: string | null): void => {
        lastWords = setTimeout(onClose, LAST_WORDS_MS, code, signal);
      };
      const onError = (error: Error): void =>
        settle(() => {
          this.#end(child);
          reject(new CallFailure(`its process cannot be reached: ${error.message}`));
        });
      const late = (): void =>
        settle(() => {
          this.#end(child);
          reject(new CallFailure(`${nothing} within ${seconds} s`, { kind: 'timeout' }));
        });
      // When this process was busy itself, the answer may lie there already: it is read before the end is called.
      let waiting: NodeJS.Immediate | undefined;
      const timer = setTimeout(() => {
        waiting = setImmediate(late);
      }, 1000 * seconds);
      child.on('message', onMessage).on('exit', onExit).on('close', onClose).on('error', onError);
      keepAwake(child, true);
      child.send(question, (error) => {
        // The end of the process says why.
        if (error !== null && child.connected) onError(error);
      });
    });
  }
}
