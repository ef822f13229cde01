import { describe, expect, it } from 'vitest';
import { agentServeEnvStage } from '../../../src/cli/stages/agent-serve-env.ts';
import { type Progress, silentProgress } from '../../../src/core/index.ts';
import { call } from './served.ts';

async function run(config: unknown, whenListening: (url: string) => Promise<void>): Promise<string[]> {
  const stop = new AbortController();
  const notes: string[] = [];
  const progress: Progress = { ...silentProgress, note: (line: string) => void notes.push(line) };
  let asked = Promise.resolve();
  await agentServeEnvStage.run(agentServeEnvStage.schema.parse(config), {
    progress,
    signal: stop.signal,
    backend: undefined,
    threads: undefined,
    print: (url) => {
      asked = whenListening(url).finally(() => stop.abort());
    },
  });
  await asked;
  return notes.map((note) => (JSON.parse(note) as { event: string }).event);
}

describe('agent serve-env', () => {
  it('prints the address that clients are given, serves, and ends when it is asked to', async () => {
    let greeting: unknown;
    const events = await run({ env: 'maze', server: { port: 0 } }, async (url) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/maze$/);
      greeting = await call(url.replace('/maze', '/'));
    });
    expect(greeting).toEqual([200, 'q-ponder serves maze, 25 tasks.']);
    expect(events).toEqual(['listening', 'stopping', 'stopped']);
  });

  it('does not listen for others unless it is told to', async () => {
    const config = { env: 'maze', server: { port: 0, host: '0.0.0.0' } };
    await expect(run(config, async () => undefined)).rejects.toMatchObject({
      code: 'CONFIG',
      message: 'the environments would be open to everybody who reaches 0.0.0.0',
    });
  });

  it('names the environments that there are', () => {
    expect(() => agentServeEnvStage.schema.parse({ env: 'chess' })).toThrow(/textcraft.*maze.*wordle/s);
  });
});
