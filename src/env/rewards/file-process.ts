/** The process of a reward file: it loads the user's module and answers one call after another. */
import { Worker } from 'node:worker_threads';
import type { FromProcess, ToProcess } from './messages.ts';
import { nameOfValue, readScores } from './scores.ts';
import type { RewardFunction } from './types.ts';

/** Whoever throws a whole file must not send it back. */
const LONGEST_PROBLEM = 1000;

// The user's module may put its own in their places.
const { exit } = process;
const sendMessage = process.send?.bind(process);
const send = (message: FromProcess): void => {
  // Who has gone does not want it: the end of the connection ends this process, below.
  sendMessage?.(message, () => undefined);
};

function problemOf(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : `threw ${String(error)}`;
    return text.slice(0, LONGEST_PROBLEM);
  } catch {
    return 'threw a value that has no text';
  }
}

interface Loaded {
  score: RewardFunction;
  batchSize: number | null;
}

/** The function in a module: its default export, or else the export `score`. */
function rewardIn(module: Record<string, unknown>): Loaded {
  const exported = module.default ?? module;
  if (typeof exported === 'function') return { score: exported as RewardFunction, batchSize: null };
  const { score, batchSize = null } = exported as Record<string, unknown>;
  if (typeof score !== 'function') {
    throw new Error('exports no reward: export default a function, or an object { score, batchSize }');
  }
  if (
    batchSize !== null &&
    !(typeof batchSize === 'number' && Number.isInteger(batchSize) && batchSize >= 1)
  ) {
    throw new Error(`batchSize is ${nameOfValue(batchSize)}, allowed is a whole number from 1`);
  }
  // Called on its object, which may hold what it needs.
  return { score: (samples) => (score as RewardFunction).call(exported, samples), batchSize };
}

let reward: Loaded | undefined;

async function load(url: string): Promise<void> {
  try {
    reward = rewardIn((await import(url)) as Record<string, unknown>);
    send({ kind: 'ready', batchSize: reward.batchSize });
  } catch (error) {
    send({ kind: 'unusable', problem: problemOf(error) });
  }
}

async function score({ id, samples }: Extract<ToProcess, { kind: 'score' }>): Promise<void> {
  const expected = samples.length;
  try {
    if (reward === undefined) throw new Error('a call came before the module');
    send({ kind: 'done', id, values: readScores(await reward.score(samples), expected) });
  } catch (error) {
    send({ kind: 'failed', id, problem: problemOf(error) });
  }
}

// Ctrl-C reaches the whole process group; the parent decides what happens, and its end is ours.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => exit(0));
// A loop never hears of the parent's end: a thread beside it does.
new Worker(
  `setInterval(() => {
    try {
      if (process.ppid === ${process.ppid} && process.kill(${process.ppid}, 0)) return;
    } catch {
      // There is no such process.
    }
    process.kill(process.pid, 'SIGKILL');
  }, 1000);`,
  { eval: true, execArgv: [] },
).unref();

process.on('message', (message: ToProcess) => {
  void (message.kind === 'load' ? load(message.url) : score(message));
});
