/** `tsx scripts/bench-metrics/main.ts`: speed of the correlations and of their bootstrap, beside scipy's. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFileAtomic } from '../../src/core/index.ts';
import { describeMachine } from '../bench/machine.ts';
import { cases } from './cases.ts';
import { makePairs, type Sizes } from './data.ts';
import { interleave, type Result } from './measure.ts';
import { ScipyProcess } from './scipy-process.ts';

const USAGE = `tsx scripts/bench-metrics/main.ts [options]

  --python PATH    a Python with scipy, which then computes the same in alternating rounds
  --rounds N       rounds after the warm-up (default 5)
  --quick          a hundredth of the pairs, to see that it works; the numbers mean nothing
  --json FILE      also write all measurements to FILE
`;

const OPTIONS = {
  options: {
    python: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
} as const;

const options = readOptions();
if (options.help) process.stdout.write(USAGE);
else await bench();

function readOptions() {
  try {
    const { values } = parseArgs(OPTIONS);
    if (!/^[1-9]\d*$/.test(values.rounds))
      throw new RangeError(`--rounds must be a whole number from 1 on, got '${values.rounds}'`);
    return values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function bench(): Promise<void> {
  const sizes: Sizes = options.quick
    ? { pairs: 10_000, resampled: 1000, resamples: 100 }
    : { pairs: 1_000_000, resampled: 10_000, resamples: 1000 };
  const machine = { ...describeMachine(), command: ['main.ts', ...process.argv.slice(2)].join(' ') };
  print(
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB; ${machine.system}; Node ${machine.node}; commit ${machine.commit}`,
    `${machine.command}, ${machine.started}, load before ${machine.load.join(' ')}`,
  );
  const pairs = makePairs(sizes.pairs);
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-bench-metrics-'));
  let scipy: ScipyProcess | undefined;
  try {
    if (options.python !== undefined) {
      const path = join(folder, 'pairs.bin');
      await writeFile(path, Buffer.concat([asBytes(pairs.scores), asBytes(pairs.targets)]));
      scipy = await startScipy(options.python, path, sizes);
    }
    const reports = [];
    for (const { title, targetMilliseconds, contestants, agreement } of cases(pairs, sizes, scipy)) {
      const results = await interleave(contestants, Number(options.rounds));
      print('', title);
      printResults(results, targetMilliseconds);
      const [ours, ...others] = results.map(({ name, rounds }) => ({ name, values: rounds[0]!.values }));
      for (const { name, values } of others) print(`  ${name}: ${agreement(ours!.values, values)}`);
      reports.push({ title, targetMilliseconds, results });
    }
    const loadAfter = loadavg().map((value) => Math.round(value * 100) / 100);
    print('', `load after ${loadAfter.join(' ')}`);
    if (options.json !== undefined) {
      const content = { machine, loadAfter, sizes, scipy: scipy?.description ?? null, cases: reports };
      await writeFileAtomic(options.json, `${JSON.stringify(content, null, 2)}\n`);
    }
  } finally {
    scipy?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Undefined, with the reason printed, where that Python cannot take part. */
async function startScipy(python: string, path: string, sizes: Sizes): Promise<ScipyProcess | undefined> {
  try {
    const scipy = await ScipyProcess.start(python, path, sizes);
    print(`scipy: ${scipy.description}`);
    return scipy;
  } catch (error) {
    print(`without scipy: ${(error as Error).message}`);
    return undefined;
  }
}

function printResults(results: Result[], target: number): void {
  for (const { name, rounds, milliseconds, processorMilliseconds, ...ratio } of results) {
    const times = rounds.map((round) => round.milliseconds.toFixed(0));
    const against =
      name === results[0]!.name
        ? `target ${target} ms: ${milliseconds < target ? 'met' : 'missed'}`
        : `${ratio.timesAsLong.toFixed(1)} times as long, ${ratio.processorTimesAsLong.toFixed(1)} times the processor time`;
    print(
      `  ${name.padEnd(22)} ${milliseconds.toFixed(0).padStart(6)} ms, processor ${processorMilliseconds.toFixed(0).padStart(6)} ms; ${against} (rounds ${times.join(' ')})`,
    );
  }
}

function asBytes(values: Float64Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

function print(...lines: string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
