import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

export interface Machine {
  processor: string;
  cores: number;
  memoryGiB: number;
  system: string;
  node: string;
  commit: string;
  command: string;
  started: string;
  /** Load averages of 1, 5 and 15 minutes before the bench began. */
  load: number[];
}

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    commit: commit(),
    command: `npm run bench${['', ...process.argv.slice(2)].join(' ').replace(/^ /, ' -- ')}`,
    started: new Date().toISOString(),
    load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', ['--no-optional-locks', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'scripts/bench') === '' ? '' : ' with changes';
    return `${git('rev-parse', '--short', 'HEAD')}${changed}`;
  } catch (error) {
    return `unknown (${(error as Error).message.split('\n')[0]})`;
  }
}
