import { QPonderError } from '../../core/index.ts';
import type { CommandDefinition } from '../command.ts';
import { packageInfo } from '../package-info.ts';
import { BACKENDS, type Backend } from '../stage-command.ts';

/** What a backend computes with, or why it cannot. Starting it is the only honest test. */
async function describeBackend(backend: Backend): Promise<string> {
  const { startEngine, stopEngine } = await import('../../engine/index.ts');
  try {
    const { runtime, provider, threads } = await startEngine({ backend });
    stopEngine();
    return `${runtime}, ${provider}, ${threads} thread(s)`;
  } catch (error) {
    if (error instanceof QPonderError) return `not available: ${error.message}`;
    throw error;
  }
}

export const versionCommand: CommandDefinition = {
  path: ['version'],
  summary: 'print the versions of q-ponder and Node, and which numeric backends work here',
  configure(command) {
    command.action(async () => {
      const print = (name: string, text: string) => process.stdout.write(`${name.padEnd(20)}  ${text}\n`);
      print('q-ponder', packageInfo().version);
      print('node', `${process.versions.node} (${process.platform} ${process.arch})`);
      for (const backend of BACKENDS) print(`backend ${backend}`, await describeBackend(backend));
    });
  },
};
