import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { MAIN } from '../cli/run-child.ts';
import { expectEqualTraces } from './compare-runs.ts';
import {
  configFile,
  createStageFixture,
  type StageFixture,
  teachContract,
  traceOf,
} from './stage-fixture.ts';

/** Q_PONDER_KILLS=50 npx vitest run test/train/kills.test.ts */
const KILLS = Number(process.env.Q_PONDER_KILLS ?? 4);
if (!(Number.isInteger(KILLS) && KILLS > 0)) {
  throw new Error(`Q_PONDER_KILLS is ${process.env.Q_PONDER_KILLS}, allowed is a whole number from 1`);
}
const STEPS = KILLS;
const PRELOAD = fileURLToPath(new URL('kill-at-operation.ts', import.meta.url));

let fixture: StageFixture;
let file: string;
beforeAll(async () => {
  fixture = await createStageFixture();
  file = await configFile(fixture.path('kills.json'), {
    model: await teachContract(fixture),
    dataset: fixture.data,
    steps: STEPS,
    promptsPerStep: 2,
    groupSize: 4,
    updatesPerBatch: 2,
    maxNewTokens: 24,
    optimizer: { learningRate: 1e-3 },
    kl: { coefficient: { kind: 'adaptive', start: 0.1, target: 1e-4, horizon: 100 } },
    validateEvery: 2,
    checkpointEvery: 1,
    keepCheckpoints: 2,
  });
});
afterAll(() => (process.env.KEEP ? console.log(fixture.folder) : fixture.remove()));

interface Session {
  killed: boolean;
  operations: number;
  stderr: string;
}

/** One process of the run, killed at a file operation, after a time from its first step, or not at all. */
async function session(
  run: string,
  { operation = 0, milliseconds }: { operation?: number; milliseconds?: number } = {},
): Promise<Session> {
  const child = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', '--import', PRELOAD, MAIN, 'train', 'grpo', '--config', file],
      ...['--run', fixture.path(run), '--threads', '1'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, Q_PONDER_KILL_AT: String(operation) } },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (milliseconds !== undefined && !stderr.includes('GRPO:') && (stderr + text).includes('GRPO:')) {
      void wait(milliseconds).then(() => child.kill('SIGKILL'));
    }
    stderr += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`ended with ${code}: ${stderr}`);
  return { killed: signal === 'SIGKILL', operations: Number(/operations: (\d+)/.exec(stderr)?.[1]), stderr };
}

describe(`a run that is killed ${KILLS} times`, () => {
  const timeout = 120_000 + KILLS * 60_000;
  it('leaves the weights, metrics, samples and optimizer of an undisturbed run, to the bit', {
    timeout,
  }, async () => {
    const undisturbed = await session('straight');
    expect(undisturbed.operations).toBeGreaterThan(20 * STEPS);
    const perStep = undisturbed.operations / STEPS;
    const rng = new Rng('kills');
    let kills = 0;
    let sessions = 0;
    let last: Session = undisturbed;
    while (kills < KILLS) {
      expect(sessions++).toBeLessThan(4 * KILLS + 10);
      // Half of them at file operations, anywhere from the first read of the run to the second step's checkpoint.
      last = await session(
        'killed',
        kills % 2 === 0
          ? { operation: 1 + rng.integer(Math.ceil(2.5 * perStep)) }
          : { milliseconds: 20 + rng.integer(400) },
      );
      if (!last.killed) break;
      kills++;
    }
    if (last.killed) last = await session('killed');
    expect(last.killed).toBe(false);
    // A run that ended before all kills would have been killed less often than the test says.
    expect(kills).toBeGreaterThanOrEqual(Math.ceil(KILLS / 2));
    process.stderr.write(`${kills} kills in ${sessions} sessions of ${STEPS} steps\n`);
    expectEqualTraces(
      await traceOf(fixture.path('killed'), STEPS),
      await traceOf(fixture.path('straight'), STEPS),
    );
  });
});
