import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkpointSteps } from '../../src/formats/checkpoints.ts';
import { trainUntil } from './run-folder-child.ts';

const childScript = fileURLToPath(new URL('./run-folder-child.ts', import.meta.url));

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'q-ponder-crash-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Lets a child train in the folder until it has written `more` checkpoints, then kills it at work. */
async function trainAndKill(folder: string, more: number, delayMs: number): Promise<void> {
  const steps = () => checkpointSteps(join(folder, 'checkpoints'));
  const target = ((await steps()).at(-1) ?? 0) + 2 * more;
  const child = spawn(process.execPath, ['--import', 'tsx', childScript, folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  while (child.exitCode === null && ((await steps()).at(-1) ?? 0) < target) await sleep(1);
  await sleep(delayMs);
  child.kill('SIGKILL');
  expect((await ended)[1]).toBe('SIGKILL');
}

it('a run killed again and again ends with the files of an undisturbed one', async () => {
  const killed = join(root, 'killed');
  // The delays put the kills at different moments of a step: at work, in the logs, in a checkpoint.
  for (const delay of [0, 2, 5, 9]) await trainAndKill(killed, 2, delay);
  expect(existsSync(join(killed, 'run.lock'))).toBe(true);
  const reached = (await checkpointSteps(join(killed, 'checkpoints'))).at(-1) as number;
  expect(reached).toBeGreaterThanOrEqual(16);
  const last = reached + 4;
  await trainUntil(killed, last);

  const undisturbed = join(root, 'undisturbed');
  await trainUntil(undisturbed, last);

  for (const file of ['config.json', 'metrics.jsonl', 'samples.jsonl']) {
    expect(await readFile(join(killed, file), 'utf8')).toBe(await readFile(join(undisturbed, file), 'utf8'));
  }
  const folders = await readdir(join(undisturbed, 'checkpoints'));
  expect(await readdir(join(killed, 'checkpoints'))).toEqual(folders);
  for (const folder of folders) {
    // The manifest holds the SHA-256 of every other file, and both runs' files have been checked against it.
    const manifest = (run: string) => readFile(join(run, 'checkpoints', folder, 'manifest.json'), 'utf8');
    expect(await manifest(killed)).toBe(await manifest(undisturbed));
  }
});
