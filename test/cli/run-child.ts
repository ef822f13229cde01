import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const MAIN: string = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
export const FIXTURE: string = fileURLToPath(new URL('./fixture-program.ts', import.meta.url));

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningChild {
  process: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves once standard output or error holds the text. */
  printed(text: string): Promise<void>;
}

/** Starts a program of this repository in a process of its own, its output in pipes. */
export function startChild(program: string, args: readonly string[]): RunningChild {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const waiting: { text: string; resolve: () => void }[] = [];
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      for (const { text, resolve } of waiting) if (output[name].includes(text)) resolve();
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }) as Ended);
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ text, resolve });
      if (output.stdout.includes(text) || output.stderr.includes(text)) resolve();
      void ended.then(() => reject(new Error(`ended without "${text}": ${JSON.stringify(output)}`)));
    });
  return { process: child, ended, printed };
}

export const runChild = (program: string, ...args: string[]): Promise<Ended> =>
  startChild(program, args).ended;
