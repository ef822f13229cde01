import { ConfigError } from '../../core/index.ts';
import { type Caller, CallFailure } from './call.ts';
import type { FileTermConfig } from './config.ts';
import { loadableModule } from './load-module.ts';
import { RewardProcess } from './reward-process.ts';

const BATCH_SIZE = 16;
/** A function that prints for each completion would fill the terminal. */
const MOST_PRINTED_LINES = 50;

/** Passes on the first lines that a module prints, and says that more were left out. */
function printer(name: string, note: (line: string) => void): (text: string) => void {
  let printed = 0;
  return (text) => {
    for (const line of text.split('\n')) {
      if (line.trim() === '' || printed > MOST_PRINTED_LINES) continue;
      note(printed === MOST_PRINTED_LINES ? `${name}: further lines are left out` : `${name}: ${line}`);
      printed++;
    }
  };
}

/**
 * Rewards from a user's file, in processes of their own. The module is loaded once at the start: a file that cannot be
 * used is a ConfigError then, not a step full of missing rewards.
 */
export async function createFileCaller(
  config: FileTermConfig,
  note: (line: string) => void,
  quote: (said: string) => string,
): Promise<Caller> {
  const { name, path, memoryMb, deadlineSeconds, concurrency } = config;
  const module = await loadableModule(path);
  const print = printer(name, note);
  const processes = Array.from(
    { length: concurrency },
    () => new RewardProcess({ url: module.url, memoryMb, deadlineSeconds, print }),
  );
  const idle = [...processes];
  const close = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.close()));
    await module.dispose();
  };
  let wanted: number | null;
  try {
    wanted = (await processes[0]?.open()) ?? null;
  } catch (error) {
    await close();
    if (!(error instanceof CallFailure)) throw error;
    throw new ConfigError(`the reward file ${path} of the term ${name}: ${quote(error.message)}`, {
      hint: 'export default a function (samples) => numbers; see docs/rewards.md',
    });
  }
  return {
    batchSize: config.batchSize ?? wanted ?? BATCH_SIZE,
    close,
    async call(samples) {
      const process = idle.pop();
      if (process === undefined) throw new Error(`${name}: more calls at a time than processes`);
      try {
        return await process.run(samples);
      } finally {
        idle.push(process);
      }
    },
  };
}
