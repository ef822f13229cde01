/** `npm run bench:grpo`: seconds of a GRPO iteration, beside TRL's GRPOTrainer on the same checkpoint and pictures. */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeFileAtomic } from '../../src/core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../../src/data/index.ts';
import { describeMachine } from '../bench/machine.ts';
import { Contestant } from './contestant.ts';
import { compare, summarize } from './summary.ts';
import { writeTask } from './task.ts';

const USAGE = `npm run bench:grpo -- --model DIR --data DIR [options]

  --model DIR      cold-start checkpoint, Hugging Face layout
  --data DIR       data set folder with records.jsonl
  --python PATH    a Python with TRL (default: the variable PYTHON, else python3)
  --trl LIST       settings of TRL, THREADS:SEQUENCES_PER_PASS with commas (default 2:128)
  --threads N      threads of our engine (default 2)
  --rounds N       measured iterations of each, in turn (default 10)
  --warm-up N      iterations before (default 3)
  --json FILE      also write all measurements to FILE
`;

const OPTIONS = {
  options: {
    model: { type: 'string' },
    data: { type: 'string' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    trl: { type: 'string', default: '2:128' },
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '10' },
    'warm-up': { type: 'string', default: '3' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
} as const;

/** The batch of the published miniature recipe. */
const BATCH = { prompts: 16, groupSize: 8, maxNewTokens: 80 };
const LEARNING = { learningRate: 3e-4, klCoefficient: 0.01, sigma: 0.5, seed: 0 };
const TARGET = 1.5;

const options = readOptions();
if (options.help) process.stdout.write(USAGE);
else await bench();

function readOptions() {
  try {
    const { values } = parseArgs(OPTIONS);
    for (const name of ['threads', 'rounds', 'warm-up'] as const) {
      if (!/^[1-9]\d*$/.test(values[name]))
        throw new RangeError(`--${name} must be a whole number from 1 on, got '${values[name]}'`);
    }
    if (!/^[1-9]\d*:[1-9]\d*(,[1-9]\d*:[1-9]\d*)*$/.test(values.trl))
      throw new RangeError(`--trl must be like 2:128 or 1:64,2:128, got '${values.trl}'`);
    if (!values.help && (values.model === undefined || values.data === undefined))
      throw new RangeError('--model and --data are needed');
    return values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function bench(): Promise<void> {
  const [rounds, warmUp] = [Number(options.rounds), Number(options['warm-up'])];
  const machine = { ...describeMachine(), command: ['main.ts', ...process.argv.slice(2)].join(' ') };
  print(
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB; ${machine.system}; Node ${machine.node}; commit ${machine.commit}`,
    `${machine.command}, ${machine.started}, load before ${machine.load.join(' ')}`,
  );
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-bench-grpo-'));
  const contestants: Contestant[] = [];
  try {
    const question = renderPrompt(await loadShippedPrompt('student/quality.v1')).text;
    const task = await writeTask(folder, options.data!, {
      model: resolve(options.model!),
      question,
      // One more than is asked for: what a run does after its last step is not measured.
      steps: warmUp + rounds + 1,
      ...BATCH,
      ...LEARNING,
    });
    const tsx = ['--import', 'tsx', script('ours.ts')];
    contestants.push(
      await Contestant.start('q-ponder', process.execPath, [
        ...tsx,
        task,
        join(folder, 'run'),
        options.threads,
      ]),
    );
    for (const setting of options.trl.split(',')) {
      const args = [script('trl_grpo.py'), task, ...setting.split(':')];
      contestants.push(await Contestant.start(`TRL ${setting}`, options.python, args));
    }
    for (const { name, description } of contestants) print(`  ${name}: ${description}`);
    for (let round = 0; round < warmUp + rounds; round++) {
      for (const contestant of contestants) await contestant.step();
      const seconds = contestants.map(({ steps }) => steps.at(-1)!.seconds.toFixed(2));
      print(`  ${round < warmUp ? 'warm-up' : `pair ${round - warmUp + 1}`}: ${seconds.join(' ')} s`);
    }
    const results = contestants.map(({ name, description, steps }) => ({
      ...summarize(name, steps.slice(warmUp)),
      description,
      steps: steps.slice(warmUp),
    }));
    const [ours, ...others] = results;
    print(
      '',
      '| | s an iteration | rollout | reward | update | other | tokens | ms a token, rollout | ms a token, update | processor s | reward |',
    );
    print('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |');
    for (const result of results) print(result.row);
    const ratios = others.map((other) => compare(ours!, other));
    for (const { against, iteration, rollout, update, pairs } of ratios) {
      print(
        `${iteration.toFixed(2)} x as fast as ${against}, target ${TARGET}: ${iteration >= TARGET ? 'met' : 'missed'}; by token: rollout ${rollout.toFixed(2)} x, update ${update.toFixed(2)} x; pairs ${pairs.map((ratio) => ratio.toFixed(2)).join(' ')}`,
      );
    }
    const loadAfter = loadavg().map((value) => Math.round(value * 100) / 100);
    print(`load after ${loadAfter.join(' ')}`);
    if (options.json !== undefined) {
      const content = { machine, loadAfter, batch: BATCH, learning: LEARNING, results, ratios };
      await writeFileAtomic(options.json, `${JSON.stringify(content, null, 2)}\n`);
    }
  } finally {
    for (const contestant of contestants) contestant.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

function print(...lines: string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
