import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Sizes } from './data.ts';
import type { Measured } from './measure.ts';

const PROGRAM = fileURLToPath(new URL('scipy_bench.py', import.meta.url));

/** A Python process that holds the same numbers and answers one task at a time; idle in between. */
export class ScipyProcess {
  readonly description: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #nextLine: (prefix: string) => Promise<string>;

  private constructor(
    description: string,
    child: ChildProcessByStdio<Writable, Readable, null>,
    nextLine: (prefix: string) => Promise<string>,
  ) {
    this.description = description;
    this.#child = child;
    this.#nextLine = nextLine;
  }

  static async start(python: string, dataPath: string, sizes: Sizes): Promise<ScipyProcess> {
    const args = [PROGRAM, dataPath, ...[sizes.pairs, sizes.resampled, sizes.resamples].map(String)];
    const child = spawn(python, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    // A command that does not exist ends the process without a line.
    let problem = '';
    child.on('error', (error) => {
      problem = `: ${error.message}`;
    });
    const nextLine = async (prefix: string): Promise<string> => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`${python} ended before it answered${problem}`);
        if (value.startsWith(prefix)) return value.slice(prefix.length);
      }
    };
    return new ScipyProcess(await nextLine('READY '), child, nextLine);
  }

  async ask(task: string): Promise<Measured> {
    this.#child.stdin.write(`${task}\n`);
    return JSON.parse(await this.#nextLine('ANSWER ')) as Measured;
  }

  stop(): void {
    this.#child.stdin.end();
  }
}
