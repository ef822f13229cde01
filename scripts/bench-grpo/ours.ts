/** `tsx scripts/bench-grpo/ours.ts TASK RUN_FOLDER THREADS`: `train grpo`, one step per line of standard input. */
import { readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { silentProgress } from '../../src/core/index.ts';
import { startEngine } from '../../src/engine/index.ts';
import { grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { READY_PREFIX, STEP_PREFIX, type Step, type Task } from './protocol.ts';

const [taskPath, run, threads] = process.argv.slice(2) as [string, string, string];
const task = JSON.parse(readFileSync(taskPath, 'utf8')) as Task;
const engine = await startEngine({ threads: Number(threads) });
const config = grpoConfigSchema.parse({
  run,
  model: task.model,
  dataset: task.data,
  seed: task.seed,
  steps: task.steps,
  promptsPerStep: task.prompts,
  groupSize: task.groupSize,
  maxNewTokens: task.maxNewTokens,
  temperature: 1,
  optimizer: { learningRate: task.learningRate, schedule: 'constant', weightDecay: 0, beta2: 0.95 },
  freeze: { vision: true, merger: true },
  kl: { coefficient: { value: task.klCoefficient } },
  rubric: {
    accuracy: { weight: 1, reward: { form: 'gaussian', sigma: task.sigma } },
    consistency: { level: { weight: 0 }, distortions: { weight: 0 } },
    format: { weight: 0 },
  },
  flip: false,
  validateEvery: task.steps + 1,
  checkpointEvery: task.steps + 1,
});

let began = 0;
let processor = 0;
/** Blocks, so that the run stands still until it is asked for its next step. */
function waitForRequest(): void {
  if (readSync(0, Buffer.alloc(1)) === 0) process.exit(0);
  began = performance.now();
  processor = processorSeconds();
}

await trainGrpo(config, {
  progress: {
    ...silentProgress,
    update(done) {
      if (done === 0) {
        say(READY_PREFIX, {
          description: `${engine.runtime}, ${engine.threads} threads, Node ${process.version}`,
        });
        return;
      }
      report(done);
      if (done === task.steps) process.exit(0);
      waitForRequest();
    },
    // The measurement before the first step ends with a note; what follows is the first step.
    note(line) {
      if (line.startsWith('step 0:')) waitForRequest();
    },
  },
});

function report(done: number): void {
  const seconds = (performance.now() - began) / 1000;
  const processorUsed = processorSeconds() - processor;
  const timings = lastRow('timings.jsonl', done);
  const metrics = lastRow('metrics.jsonl', done);
  const completions = task.prompts * task.groupSize;
  say(STEP_PREFIX, {
    seconds,
    processorSeconds: processorUsed,
    rollout: timings.rollout!,
    reward: timings.reward!,
    update: timings.update!,
    completions,
    tokens: Math.round(completions * metrics['completions/mean_length']!),
    rewardMean: metrics['reward/mean']!,
  } satisfies Step);
}

function lastRow(file: string, step: number): Record<string, number> {
  const rows = readFileSync(join(run, file), 'utf8').trim().split('\n');
  const row = JSON.parse(rows.at(-1)!) as Record<string, number>;
  if (row.step !== step) throw new Error(`${file} ends with step ${row.step}, expected is ${step}`);
  return row;
}

function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function say(prefix: string, content: object): void {
  writeSync(1, `${prefix}${JSON.stringify(content)}\n`);
}
