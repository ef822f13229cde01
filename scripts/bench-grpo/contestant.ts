import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { lineReader } from '../bench/line-reader.ts';
import { READY_PREFIX, type Ready, STEP_PREFIX, type Step } from './protocol.ts';

/** A training in a process of its own, which takes one step when asked. */
export class Contestant {
  readonly name: string;
  readonly description: string;
  readonly steps: Step[] = [];
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

  static async start(name: string, command: string, args: readonly string[]): Promise<Contestant> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const nextLine = lineReader(name, child);
    const { description } = JSON.parse(await nextLine(READY_PREFIX)) as Ready;
    return new Contestant(name, description, child, nextLine);
  }

  async step(): Promise<void> {
    this.#child.stdin.write('\n');
    this.steps.push(JSON.parse(await this.#nextLine(STEP_PREFIX)) as Step);
  }

  stop(): void {
    this.#child.stdin.end();
  }
}
