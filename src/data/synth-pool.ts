import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type ErrorCode, QPonderError } from '../core/index.ts';
import type { ImageRecord } from './records.ts';
import type { SynthesisConfig } from './synth-config.ts';
import type { FromWorker, SynthesisTask, ToWorker } from './synth-tasks.ts';

/** The worker beside this file: TypeScript in the sources (run through tsx), JavaScript in the build. */
function startWorker(): ChildProcess {
  const fromSource = import.meta.url.endsWith('.ts');
  const path = fileURLToPath(
    new URL(fromSource ? './synth-worker.ts' : './synth-worker.js', import.meta.url),
  );
  const loader = () => pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return fork(path, [], {
    execArgv: fromSource ? ['--import', loader()] : [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/**
 * Carries tasks out in several processes; `results[i]` are the records of `tasks[i]` whatever process made them.
 * The first failure, an ending process or an abort stops all processes and rejects.
 */
export async function runPool(
  config: SynthesisConfig,
  folder: string,
  tasks: readonly SynthesisTask[],
  workers: number,
  onRecords: (count: number) => void,
  signal?: AbortSignal,
): Promise<ImageRecord[][]> {
  const results: ImageRecord[][] = new Array(tasks.length);
  const children = Array.from({ length: Math.min(workers, tasks.length) }, startWorker);
  const ended = children.map((child) => new Promise<void>((resolve) => child.once('close', () => resolve())));
  let next = 0;
  let finished = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => reject(signal?.reason ?? new Error('aborted'));
      if (signal?.aborted === true) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      for (const child of children) {
        const tell = (message: ToWorker) => {
          if (child.connected) child.send(message);
        };
        const giveTask = () => {
          const number = next++;
          const task = tasks[number];
          if (task !== undefined) tell({ kind: 'task', number, task });
        };
        child.on('error', reject);
        child.on('exit', (code, killed) => {
          reject(new Error(`a synthesis process ended early (${killed ?? `exit code ${code}`})`));
        });
        child.on('message', (raw) => {
          const message = raw as FromWorker;
          if (message.kind === 'failed') {
            reject(errorOf(message));
            return;
          }
          if (message.kind === 'done') {
            results[message.number] = message.records;
            onRecords(message.records.length);
            if (++finished === tasks.length) {
              resolve();
              return;
            }
          }
          giveTask();
        });
        tell({ kind: 'open', config, folder });
      }
    });
  } finally {
    for (const child of children) child.kill('SIGKILL');
    // Nobody may write into the folder once this function has returned.
    await Promise.all(ended);
  }
  return results;
}

function errorOf(failure: Extract<FromWorker, { kind: 'failed' }>): Error {
  const details = failure.hint === null ? {} : { hint: failure.hint };
  return failure.code === null
    ? new Error(failure.message)
    : new QPonderError(failure.code as ErrorCode, failure.message, details);
}
