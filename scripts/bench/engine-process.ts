import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { lineReader } from './line-reader.ts';
import { ANSWER_PREFIX, type Answer, READY_PREFIX, type Ready, type Request } from './protocol.ts';

/**
 * An engine in a process of its own: two engines in one process would share threads and allocators. Between
 * requests it waits for its standard input and uses no processor.
 */
export class EngineProcess {
  readonly name: string;
  readonly description: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #nextLine: (prefix: string) => Promise<string>;

  private constructor(
    name: string,
    description: string,
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    nextLine: (prefix: string) => Promise<string>,
  ) {
    this.name = name;
    this.description = description;
    this.#child = child;
    this.#nextLine = nextLine;
  }

  static async start(name: string, command: string, args: readonly string[]): Promise<EngineProcess> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const nextLine = lineReader(name, child);
    const ready = JSON.parse(await nextLine(READY_PREFIX)) as Ready;
    return new EngineProcess(name, ready.description, child, nextLine);
  }

  async ask(request: Request): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    return JSON.parse(await this.#nextLine(ANSWER_PREFIX)) as Answer;
  }

  stop(): void {
    this.#child.stdin.end();
  }
}
